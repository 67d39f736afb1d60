/** Outlines in a box of 16 by 16. */
export const icons = {
  flow: "M2 8h3l2-5 3 10 2-5h2",
  agents: "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2.5 14c.6-3 3-4 5.5-4s4.9 1 5.5 4",
  conversations: "M2 3h12v8H7l-3 3v-3H2z",
  "dead-letters": "M2 5h12v9H2zM4.5 2h7M5.5 8l5 3.5M10.5 8l-5 3.5",
  discovery:
    "M8 9a1 1 0 1 0 0-2 1 1 0 0 0 0 2ZM5 11a4.2 4.2 0 0 1 0-6M11 5a4.2 4.2 0 0 1 0 6M3 13a7 7 0 0 1 0-10M13 3a7 7 0 0 1 0 10",
  settings: "M2 4.5h6.5M12 4.5h2M10.2 2.5v4M2 11.5h2M7.5 11.5h6.5M5.8 9.5v4",
  permissions: "M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 11l1.5 1.5L13.5 9",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  warning: "M8 2.5 14.5 13.5h-13ZM8 6.5v3.5M8 11.800h.01",
  search: "M11.6 7a4.6 4.6 0 1 1-9.2 0 4.6 4.6 0 0 1 9.2 0ZM10.6 10.6l4 4",
  copy: "M6 6h7v7H6zM10 3.5H3.5V10",
  done: "M3 8.5 6.5 12 13 4.5",
  close: "M4 4l8 8M12 4l-8 8",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M12.6 3.4l-.7.7M4.1 11.9l-.7.7",
  moon: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7Z",
  up: "M8 13V3M4 7l4-4 4 4",
  fold: "M4 10l4-4 4 4",
  unfold: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  send: "M2 8 14 2.5 10.5 14 8 9.5zM8 9.5 14 2.5",
} as const;
