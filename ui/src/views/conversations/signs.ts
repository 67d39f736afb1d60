/** Outlines in a box of 16 by 16 that only this screen uses. */
export const signs = {
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  back: "M10.500 3.500 5 8l5.500 4.500z",
  on: "M5.500 3.500 11 8l-5.500 4.500z",
  play: "M4.500 2.500 13 8l-8.500 5.500z",
  pause: "M5 3v10M11 3v10",
  then: "M8 14.500a6.500 6.500 0 1 0-6.300-5M8 4.500V8l2.500 2M1.200 6.200 1.700 9.500 5 8.800",
  fit: "M2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3",
} as const;
