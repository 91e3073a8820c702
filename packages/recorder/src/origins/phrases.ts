import {
  followsComma,
  hasDigit,
  isNumber,
  isZero,
  joined,
  mix,
  pairHash,
  startsItem,
  type Words,
} from './words.ts';

const wholeSalt = 0x27d4eb2f;
const compactSalt = 0x165667b1;
/** Fewest characters of a number whose groups may be written together or apart, such as an account number. */
const shortestGrouped = 8;
/** Characters of letters and digits without which a value stands everywhere. */
const fewestCharacters = 3;

/** Calls back with the hash of every word, of every pair of neighbors, and of numbers written in groups. */
export function forEachPhrase(
  { hashes, flags, raw, lengths, count }: Words,
  read: (hash: number) => void,
): void {
  let group = 0;
  let groupLength = 0;
  for (let at = 0; at < count; at += 1) {
    const hash = hashes[at] as number;
    read(hash);
    if (at > 0) read(pairHash(hashes[at - 1] as number, hash));
    const isNumeric = ((flags[at] as number) & isNumber) !== 0;
    if (at > 1 && isNumeric && ((flags[at - 1] as number) & (flags[at - 2] as number) & isNumber) !== 0) {
      read(pairHash(hashes[at - 2] as number, hash));
    }
    if (((flags[at] as number) & hasDigit) === 0 || (lengths[at] as number) === 0) {
      groupLength = 0;
      continue;
    }
    const isMore = groupLength > 0 && ((flags[at] as number) & (startsItem | followsComma)) === 0;
    group = isMore ? joined(group, raw[at] as number, lengths[at] as number) : (raw[at] as number);
    groupLength = (isMore ? groupLength : 0) + (lengths[at] as number);
    if (groupLength >= shortestGrouped) read(mix(group ^ compactSalt));
  }
}

/** Hash of all characters of a value that is a number written in groups; 0 if it is none. */
export function groupedHash({ flags, raw, lengths }: Words, start: number, end: number): number {
  let group = 0;
  let length = 0;
  for (let at = start; at < end; at += 1) {
    if (((flags[at] as number) & hasDigit) === 0) return 0;
    group = at === start ? (raw[at] as number) : joined(group, raw[at] as number, lengths[at] as number);
    length += lengths[at] as number;
  }
  return length >= shortestGrouped ? mix(group ^ compactSalt) : 0;
}

/** Hash of a whole value. Zeros beside other words make no difference: times are written with and without seconds. */
export function wholeHash({ flags, hashes }: Words, start: number, end: number): number {
  let hash = wholeSalt;
  for (let at = start; at < end; at += 1) {
    if (end - start > 1 && ((flags[at] as number) & isZero) !== 0) continue;
    hash = mix(Math.imul(hash, 31) ^ (hashes[at] as number));
  }
  return hash;
}

/** `true` if the words say enough to tell where they stand: three letters, or three digits. */
export function isTellable({ count, lengths }: Words): boolean {
  let length = 0;
  for (let at = 0; at < count && length < fewestCharacters; at += 1) {
    length += Math.max(1, lengths[at] as number);
  }
  return length >= fewestCharacters;
}
