import type { Moment, MomentQuery } from "../api/generated";

/** How things stood in the memory of a broker that is none. */
export class FakeMoments {
  /** What is different from moment to moment. */
  then: (at: string) => Partial<Moment> = () => ({});

  at({ at }: MomentQuery): Moment {
    return {
      at,
      agents: [],
      rules: [],
      openLetters: 0,
      keptSince: "2026-11-01T00:00:00Z",
      ...this.then(at),
    };
  }
}
