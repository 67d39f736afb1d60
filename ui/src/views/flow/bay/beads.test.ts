import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Beads, type Flight } from "./beads";

/** What of an animation a bead uses; the page of the tests has none. */
class FakeEffect {
  frames: Keyframe[];
  delay: unknown;

  constructor(frames: Keyframe[], delay: unknown) {
    this.frames = frames;
    this.delay = delay;
  }

  setKeyframes(frames: Keyframe[]): void {
    this.frames = frames;
  }

  updateTiming({ delay }: OptionalEffectTiming): void {
    this.delay = delay;
  }
}

class FakeAnimation extends EventTarget {
  readonly effect: FakeEffect;
  plays = 1;

  constructor(effect: FakeEffect) {
    super();
    this.effect = effect;
  }

  play(): void {
    this.plays += 1;
  }

  end(): void {
    this.dispatchEvent(new Event("finish"));
  }
}

describe("beads", () => {
  let made: FakeAnimation[];

  beforeEach(() => {
    made = [];
    vi.stubGlobal("KeyframeEffect", FakeEffect);
    HTMLElement.prototype.animate = (frames, options) => {
      const { delay } = options as KeyframeAnimationOptions;
      const animation = new FakeAnimation(new FakeEffect(frames as Keyframe[], delay));
      made.push(animation);
      return animation as unknown as Animation;
    };
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    Reflect.deleteProperty(HTMLElement.prototype, "animate");
  });

  const to = (x: number, kind = "request"): Flight => ({
    kind,
    curve: [
      { x: 0, y: 0 },
      { x: 0, y: 0 },
      { x, y: 0 },
      { x, y: 0 },
    ],
  });
  const place = (animation?: FakeAnimation) => animation?.effect.frames.at(-1)?.transform;

  test("each flies with the one animation it has, however often", () => {
    const element = document.createElement("span");
    const beads = new Beads([element]);
    beads.fly([to(10)]);
    made[0]?.end();
    beads.fly([to(20, "response")]);
    made[0]?.end();
    beads.fly([to(30, "event")]);
    expect(made).toHaveLength(1);
    expect(made[0]?.plays).toBe(3);
    expect(place(made[0])).toBe("translate(30.0px, 0.0px)");
    expect(element.dataset.kind).toBe("event");
  });

  test("those in the air are left alone, and what finds no bead is left out", () => {
    const beads = new Beads([document.createElement("span"), document.createElement("span")]);
    beads.fly([to(10)]);
    beads.fly([to(20), to(30)]);
    expect(made.map(place)).toEqual(["translate(10.0px, 0.0px)", "translate(20.0px, 0.0px)"]);
    expect(made.map(({ plays }) => plays)).toEqual([1, 1]);
    for (const each of made) each.end();
    beads.fly([to(40), to(50)]);
    expect(made.map(place)).toEqual(["translate(40.0px, 0.0px)", "translate(50.0px, 0.0px)"]);
    expect(
      made.map(({ effect }) => effect.delay),
      "one after the other",
    ).toEqual([0, 18]);
  });
});
