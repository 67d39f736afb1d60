import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

// The ladder of src/: parts and theme know nothing of us, api speaks to the broker, state remembers,
// views show. Nobody imports upward, and only api/ touches the Tauri packages.
const tauri = {
  group: ["@tauri-apps/*"],
  message: "Only src/api may speak to the desktop shell.",
};
const above = {
  parts: ["api", "state", "views"],
  theme: ["api", "state", "views", "parts"],
  api: ["parts", "state", "views"],
  state: ["views"],
  views: [],
};
const layers = Object.entries(above).map(([layer, forbidden]) => ({
  files: [`src/${layer}/**/*.{ts,svelte}`],
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          ...(layer === "api" ? [] : [tauri]),
          ...(forbidden.length === 0
            ? []
            : [
                {
                  group: forbidden.flatMap((name) => [`**/${name}/*`, `**/${name}/**`]),
                  message: `src/${layer} is below that; see DESIGN.md, section 2.`,
                },
              ]),
        ],
      },
    ],
  },
}));

export default ts.config(
  { ignores: ["dist", "node_modules", "e2e/output", "src/api/generated.ts"] },
  js.configs.recommended,
  ts.configs.strict,
  svelte.configs.recommended,
  svelte.configs.prettier,
  {
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unused-vars": [
        "error",
        { varsIgnorePattern: "^_", argsIgnorePattern: "^_" },
      ],
      "no-restricted-imports": ["error", { patterns: [tauri] }],
      "svelte/no-at-html-tags": "error",
      // In a C locale `navigator.language` is "C", and Intl throws at it; see src/parts/time.ts.
      "no-restricted-globals": [
        "error",
        { name: "Intl", message: "Format by hand, in src/parts." },
      ],
      "no-restricted-syntax": [
        "error",
        {
          selector: "MemberExpression[property.name=/^toLocale.*String$/]",
          message: "Format by hand, in src/parts: a C locale makes this throw.",
        },
      ],
      // What pours in is kept outside of reactivity on purpose; see src/state/rows.ts.
      "svelte/prefer-svelte-reactivity": "off",
      // The compiler knows every name; ESLint does not know types.
      "no-undef": "off",
    },
  },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: {
      parserOptions: { extraFileExtensions: [".svelte"], parser: ts.parser, svelteConfig },
    },
  },
  ...layers,
);
