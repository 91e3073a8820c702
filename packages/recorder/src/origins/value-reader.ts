import { exactDigitsOf } from '@actlog/tool-call';

/** Maximum number of values that are read of arguments or of a result. */
const maxValues = 5000;
const maxDepth = 20;
/** An object of more keys is a map, whose keys are data. */
const maxNamedKeys = 32;
/** Keys that are names rather than data: no address, no number, no sentence. */
const nameLike = /^[\p{L}_$][\p{L}\p{M}\p{N}_$ -]{0,63}$/u;
const manyDigits = /\d.*\d.*\d.*\d/;

/** Part of a path in place of a key that is data. */
const anyKey = '*';

function namePart(key: string): string {
  return nameLike.test(key) && key !== '__proto__' && !manyDigits.test(key) ? key : anyKey;
}

/** Returns a text, or its beginning and its end if it is longer than a limit. */
export function endsOf(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const tail = maxCharacters >> 2;
  return `${text.slice(0, maxCharacters - tail)}\n${text.slice(-tail)}`;
}

/** Receives a text or a number of a value, with the path to it, and whether a part of it was left out. */
export type LeafReader = (text: string, path: string, isPartial: boolean) => void;

/**
 * Reads the texts and numbers in a value, up to limits. Paths are the keys joined with dots, without the indexes of
 * lists; a key that is data rather than a name is `*`.
 */
export class ValueReader {
  /** `true` if a part of the value was not read. */
  isPartial = false;
  /** Characters that may still be read. */
  #characters: number;
  #values = maxValues;

  /** @param maxCharacters - maximum number of characters that are read of all texts together */
  constructor(maxCharacters: number) {
    this.#characters = maxCharacters;
  }

  /** Calls back for each text and number. Never throws. */
  read(value: unknown, leaf: LeafReader): void {
    try {
      this.#read(value, '', 0, leaf);
    } catch {
      this.isPartial = true; // a getter or a proxy threw
    }
  }

  #read(value: unknown, path: string, depth: number, leaf: LeafReader): void {
    if (typeof value === 'string') {
      this.#leaf(value, path, leaf);
      return;
    }
    if (typeof value === 'number' || typeof value === 'bigint') {
      this.#leaf(String(value), path, leaf);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const digits = exactDigitsOf(value);
    if (digits !== undefined) {
      this.#leaf(digits, path, leaf);
      return;
    }
    if (depth > maxDepth || ArrayBuffer.isView(value)) {
      this.isPartial = true;
      return;
    }
    if (Array.isArray(value)) {
      for (const item of value) {
        if (!this.#takeValue()) return;
        this.#read(item, path, depth + 1, leaf);
      }
      return;
    }
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') {
      this.#read((toJSON as () => unknown).call(value), path, depth + 1, leaf);
      return;
    }
    const keys = Object.keys(value);
    for (const key of keys) {
      if (!this.#takeValue()) return;
      const name = keys.length > maxNamedKeys ? anyKey : namePart(key);
      const inner = path === '' ? name : `${path}.${name}`;
      this.#read((value as Record<string, unknown>)[key], inner, depth + 1, leaf);
    }
  }

  #takeValue(): boolean {
    this.#values -= 1;
    if (this.#values < 0) this.isPartial = true;
    return this.#values >= 0;
  }

  #leaf(text: string, path: string, leaf: LeafReader): void {
    const isPartial = text.length > this.#characters;
    if (isPartial) this.isPartial = true;
    const read = endsOf(text, this.#characters);
    this.#characters = Math.max(0, this.#characters - read.length);
    if (read !== '') leaf(read, path === '' ? 'value' : path, isPartial);
  }
}
