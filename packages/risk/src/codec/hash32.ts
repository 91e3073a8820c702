/**
 * Returns a 32-bit hash of a string's UTF-16 code units: FNV-1a with the finalizer of MurmurHash3, so that low and high
 * bits are equally good. For sketches only; it is not collision-resistant against chosen input.
 */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return mix32(hash);
}

/** Mixes the bits of a 32-bit number (finalizer of MurmurHash3). */
export function mix32(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns the hash of an ordered pair. */
export function pairHash(first: number, second: number): number {
  return mix32((Math.imul(first, 31) + second) ^ 0x9e3779b9);
}
