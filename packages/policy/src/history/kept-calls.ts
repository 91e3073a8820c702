import type { SessionCall } from './session-call.ts';
import { callText, parseCall, type StoredCall } from './stored-call.ts';

/** Calls of a session that are kept one by one, and what has changed in them since they were read. */
export class KeptCalls {
  #calls: SessionCall[] = [];
  readonly #numbers = new Map<SessionCall, number>();
  #lastNumber = 0;
  /** Number of the last call that is stored. */
  #lastStored = 0;
  readonly #changed = new Set<SessionCall>();
  readonly #removed: number[] = [];

  /** @param stored - calls in their stored form, oldest first */
  constructor(stored: readonly StoredCall[] = []) {
    for (const { number, text } of stored) this.#keep(parseCall(text), number);
    this.#lastStored = this.#lastNumber;
  }

  /** The calls, oldest first. */
  get all(): readonly SessionCall[] {
    return this.#calls;
  }

  /** New calls, and calls that were replaced. */
  get changed(): StoredCall[] {
    return [...this.#changed].map((call) => ({ number: this.#numberOf(call), text: callText(call) }));
  }

  /** Numbers of stored calls that were removed. */
  get removed(): readonly number[] {
    return this.#removed;
  }

  /** Adds the newest call. */
  add(call: SessionCall): void {
    // A copy, because two calls may be one object.
    const added = { ...call };
    this.#keep(added, this.#lastNumber + 1);
    this.#changed.add(added);
  }

  /** Replaces the call at an index, which stays in its place. */
  replace(index: number, call: SessionCall): void {
    const known = this.#calls[index] as SessionCall;
    this.#calls[index] = call;
    this.#numbers.set(call, this.#numberOf(known));
    this.#forget(known);
    this.#changed.add(call);
  }

  /** Removes `count` calls from an index on, and returns them. */
  remove(index: number, count: number): readonly SessionCall[] {
    const calls = this.#calls.splice(index, count);
    for (const call of calls) {
      const number = this.#numberOf(call);
      if (number <= this.#lastStored) this.#removed.push(number);
      this.#forget(call);
    }
    return calls;
  }

  #keep(call: SessionCall, number: number): void {
    this.#calls.push(call);
    this.#numbers.set(call, number);
    this.#lastNumber = Math.max(this.#lastNumber, number);
  }

  #numberOf(call: SessionCall): number {
    return this.#numbers.get(call) as number;
  }

  #forget(call: SessionCall): void {
    this.#numbers.delete(call);
    this.#changed.delete(call);
  }
}
