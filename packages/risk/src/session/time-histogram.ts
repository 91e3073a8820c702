const BUCKETS = 16;

/**
 * Counts events over time in at most sixteen buckets. Their width is a power of two milliseconds and doubles when the
 * time span outgrows them. Buckets start at multiples of the width, so the content depends only on the set of times.
 */
export class TimeHistogram {
  /** Width of a bucket is 2^exponent milliseconds. */
  exponent: number;
  /** Number of the first bucket, counted from 1970. */
  first: number;
  counts: number[];

  /** @param exponent Initial width: 2^exponent milliseconds. Default: 10, about a second. */
  constructor(exponent = 10, first = 0, counts: number[] = []) {
    this.exponent = exponent;
    this.first = first;
    this.counts = counts;
  }

  /** Counts one event. */
  add(timestampMs: number): void {
    let bucket = Math.floor(timestampMs / 2 ** this.exponent);
    if (this.counts.length === 0) {
      this.first = bucket;
      this.counts.push(1);
      return;
    }
    while (Math.max(bucket, this.first + this.counts.length - 1) - Math.min(bucket, this.first) >= BUCKETS) {
      this.#double();
      bucket = Math.floor(timestampMs / 2 ** this.exponent);
    }
    if (bucket < this.first) {
      this.counts.unshift(...new Array<number>(this.first - bucket).fill(0));
      this.first = bucket;
    }
    while (this.first + this.counts.length <= bucket) this.counts.push(0);
    const at = bucket - this.first;
    this.counts[at] = (this.counts[at] as number) + 1;
  }

  /** Largest count of a bucket. */
  get peak(): number {
    return Math.max(0, ...this.counts);
  }

  /** Width of a bucket in milliseconds. */
  get widthMs(): number {
    return 2 ** this.exponent;
  }

  #double(): void {
    const first = Math.floor(this.first / 2);
    const merged: number[] = [];
    for (const [index, count] of this.counts.entries()) {
      const at = Math.floor((this.first + index) / 2) - first;
      merged[at] = (merged[at] ?? 0) + count;
    }
    this.exponent += 1;
    this.first = first;
    this.counts = merged;
  }
}
