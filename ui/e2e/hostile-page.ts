/** What a web page can try in order to reach a broker on this machine. This function runs in the page; it gives what
 *  the page itself takes for a success. What the browser sent and was answered is counted outside. */
export async function tryEverything(targets: string[], own: string): Promise<string[]> {
  const reached: string[] = [];
  const within = <T>(work: Promise<T>): Promise<T | undefined> =>
    Promise.race([
      work.catch(() => undefined),
      new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 1000)),
    ]);
  const register = JSON.stringify({
    sender_id: "pwned",
    receiver_id: "global_lobby",
    message_type: "REGISTER",
    payload: {},
  });
  const call = JSON.stringify({ method: "issueToken", params: { agent: "pwned" } });
  const paths = [
    "/",
    "/healthz",
    "/metrics",
    "/agents",
    "/console/",
    "/console/call",
    "/api/register",
    "/api/v1/protocol/openapi.json",
    "/api/v1/protocol/messages",
  ];

  const asks: RequestInit[] = [
    {},
    { mode: "no-cors" },
    { mode: "no-cors", credentials: "include" },
    { mode: "no-cors", method: "POST", body: register },
    { method: "POST", body: register, headers: { "Content-Type": "text/plain" } },
    { method: "POST", body: call, headers: { "Content-Type": "application/json" } },
    { headers: { Authorization: "Bearer x" } },
    { method: "DELETE" },
    { mode: "no-cors", referrerPolicy: "no-referrer" },
    { mode: "no-cors", keepalive: true, method: "POST", body: register },
  ];
  for (const target of targets)
    for (const path of paths)
      await Promise.all(
        asks.map(async (ask) => {
          const answer = await within(fetch(target + path, ask));
          if (answer !== undefined && answer.type !== "opaque" && answer.status !== 403)
            reached.push(`fetch ${target}${path} ${JSON.stringify(ask)}: ${String(answer.status)}`);
        }),
      );

  const sockets = ["/", "/lobby", "/collab", "/ws", "/ws/pwned?token=x", "/console/feed"];
  for (const target of targets)
    await Promise.all(
      sockets.flatMap((path) =>
        [[], ["agent-discovery"], ["switchboard", "token.x"]].map(async (protocols) => {
          const opened = new Promise<boolean>((resolve) => {
            const socket = new WebSocket(target.replace("http", "ws") + path, protocols);
            socket.onopen = () => resolve(true);
            socket.onerror = () => resolve(false);
          });
          if ((await within(opened)) === true) reached.push(`WebSocket ${target}${path}`);
        }),
      ),
    );

  const made = (tag: string, set: (one: HTMLElement) => void) => {
    const loaded = new Promise<boolean>((resolve) => {
      const one = document.createElement(tag);
      one.onload = () => resolve(true);
      one.onerror = () => resolve(false);
      set(one);
      document.body.append(one);
    });
    return within(loaded);
  };
  const attribute =
    (...pairs: [string, string][]) =>
    (one: HTMLElement) =>
      pairs.forEach(([name, value]) => one.setAttribute(name, value));
  const tries: [string, Promise<boolean | undefined>][] = [];
  for (const target of targets)
    for (const path of ["/console/", "/healthz", "/console/mark.svg", "/metrics"]) {
      const url = target + path;
      tries.push(
        ["img", made("img", attribute(["src", url]))],
        ["img with cors", made("img", attribute(["crossorigin", "anonymous"], ["src", url]))],
        ["script", made("script", attribute(["src", url]))],
        ["module", made("script", attribute(["type", "module"], ["src", url]))],
        ["stylesheet", made("link", attribute(["rel", "stylesheet"], ["href", url]))],
        ["preload", made("link", attribute(["rel", "preload"], ["as", "image"], ["href", url]))],
        ["prefetch", made("link", attribute(["rel", "prefetch"], ["href", url]))],
        ["icon", made("link", attribute(["rel", "icon"], ["href", url]))],
        ["object", made("object", attribute(["data", url]))],
        ["embed", made("embed", attribute(["src", url]))],
        ["video", made("video", attribute(["src", url]))],
        ["audio", made("audio", attribute(["src", url]))],
        ["input", made("input", attribute(["type", "image"], ["src", url]))],
      );
    }
  for (const [what, work] of tries)
    // A frame of nothing is loaded too; what was answered is seen outside.
    if ((await work) === true && !["object", "embed", "prefetch"].includes(what))
      reached.push(what);

  // What is only sent. Whether it arrived is seen outside.
  for (const target of targets) {
    navigator.sendBeacon(`${target}/api/register`, register);
    new EventSource(`${target}/console/feed`).onopen = () => reached.push(`EventSource ${target}`);
    for (const [action, method, type] of [
      ["/api/register", "post", "text/plain"],
      ["/console/call", "post", "text/plain"],
      ["/agents", "post", "application/x-www-form-urlencoded"],
      ["/console/call", "post", "multipart/form-data"],
      ["/metrics", "get", "application/x-www-form-urlencoded"],
    ] as const) {
      const frame = document.createElement("iframe");
      frame.name = `f${String(Math.random())}`;
      const form = document.createElement("form");
      Object.assign(form, { action: target + action, method, enctype: type, target: frame.name });
      const field = document.createElement("input");
      [field.name, field.value] = [register.slice(0, -1) + ',"x":"', '"}'];
      form.append(field);
      document.body.append(frame, form);
      form.submit();
    }
    for (const path of ["/console/", "/metrics", "/"]) {
      const frame = document.createElement("iframe");
      frame.src = target + path;
      document.body.append(frame);
    }
    // A page without an origin: its Origin is "null", or there is none.
    const boxed = document.createElement("iframe");
    boxed.setAttribute("sandbox", "allow-scripts allow-forms");
    boxed.srcdoc = `<meta name=referrer content=no-referrer>
      <form id=f method=post enctype=text/plain action="${target}/api/register"><input name=a></form>
      <img src="${target}/console/mark.svg">
      <script>
        fetch("${target}/api/register",{method:"POST",mode:"no-cors",body:"{}"}).catch(()=>{});
        new WebSocket("${target.replace("http", "ws")}/");
        document.getElementById("f").submit();
      </script>`;
    document.body.append(boxed);
    const link = document.createElement("a");
    [link.href, link.ping] = ["#here", `${target}/api/register`];
    document.body.append(link);
    link.click();
    const style = document.createElement("style");
    style.textContent = `@import "${target}/console/"; @font-face{font-family:x;src:url(${target}/healthz)}
      body{background:url(${target}/console/mark.svg);font-family:x}`;
    document.head.append(style);
    // By way of a redirect of its own.
    void within(fetch(`${own}/to?${target}/api/register`, { method: "POST", body: register }));
    void made("img", attribute(["src", `${own}/to?${target}/console/mark.svg`]));
    try {
      new Worker(`${target}/healthz`);
      new SharedWorker(`${target}/healthz`);
    } catch {
      // A worker from elsewhere is not even asked for.
    }
    void navigator.serviceWorker?.register(`${target}/healthz`).catch(() => undefined);
  }
  await new Promise((resolve) => setTimeout(resolve, 1500));
  return reached;
}
