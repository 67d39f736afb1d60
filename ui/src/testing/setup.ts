import { configure } from "@testing-library/svelte";

// Looking for a role reads the whole page: on a busy machine a second is soon over.
configure({ asyncUtilTimeout: 5_000 });
