// Where events stand: in their order, with pauses shortened, or at their times.

/** How much wider a pause is for each factor of ten of its length. */
const PAUSE_STEP = 2.6;
/** The pause, in seconds, at which widening begins. */
const PAUSE_UNIT_S = 1e-2;

/** A monotonous way from events and times to places along the timeline. */
class Scale {
  constructor(trace, mode) {
    this.times = trace.times;
    this.mode = mode;
    this.places = mode === "time" ? trace.times : Scale.inOrder(trace.times);
    const last = this.places.length - 1;
    this.start = this.places[0] ?? 0;
    this.end = last < 0 ? 1 : this.places[last];
    if (this.end - this.start <= 0) {
      this.end = this.start + 1;
    }
  }

  /** Each event has room, and a longer pause has more. */
  static inOrder(times) {
    const places = new Float64Array(times.length);
    for (let index = 1; index < times.length; index += 1) {
      const pause = Math.max(times[index] - times[index - 1], 0);
      places[index] = places[index - 1] + 1 + PAUSE_STEP * Math.log10(1 + pause / PAUSE_UNIT_S);
    }
    return places;
  }

  get length() {
    return this.end - this.start;
  }

  /** Where a time is. */
  ofTime(time) {
    if (this.mode === "time") {
      return time;
    }
    const after = firstAtLeast(this.times, time);
    if (after === 0 || after === this.times.length || this.times[after] === time) {
      return this.places[Math.min(after, this.times.length - 1)] ?? 0;
    }
    const share = (time - this.times[after - 1]) / (this.times[after] - this.times[after - 1]);
    return this.places[after - 1] + share * (this.places[after] - this.places[after - 1]);
  }

  /** The first event at a place or after it. */
  firstAt(place) {
    return firstAtLeast(this.places, place);
  }

  /** The time at a place. */
  timeAt(place) {
    if (this.mode === "time") {
      return place;
    }
    const after = Math.min(this.firstAt(place), this.times.length - 1);
    if (after <= 0) {
      return this.times[0] ?? 0;
    }
    const share = (place - this.places[after - 1]) / (this.places[after] - this.places[after - 1]);
    return this.times[after - 1] + Math.min(share, 1) * (this.times[after] - this.times[after - 1]);
  }
}

/** The first place of a sorted list whose value is at least `wanted`; its length, if there is none. */
function firstAtLeast(sorted, wanted) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
