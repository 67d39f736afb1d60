import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./theme/tokens.css";
import "./theme/base.css";
import { mount } from "svelte";
import { connect } from "./api/client";
import { Console } from "./state/console.svelte";
import App from "./views/App.svelte";

const target = document.getElementById("app");
if (target === null) throw new Error("index.html has no #app");
mount(App, { target, props: { console: new Console(connect()) } });
