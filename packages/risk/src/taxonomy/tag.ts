/**
 * Classification of a tool by its name. A tool may have several tags.
 *
 * - `read_private`: reads data of the user or the organization.
 * - `ingest_untrusted`: reads text that third parties may have written.
 * - `external_comm`: sends something to another person or place.
 * - `write`, `delete`: changes or deletes a stored object.
 * - `payment`: moves or commits money.
 * - `credential`: uses a secret or a login.
 * - `admin`: changes permissions or the operation of a system.
 * - `exec`: runs code or a command, or controls a computer.
 * - `memory_write`: writes data that later sessions read.
 * - `agent_msg`: addresses another agent.
 * - `unknown`: the name contains no word of the taxonomy.
 */
export const toolTags = [
  'read_private',
  'ingest_untrusted',
  'external_comm',
  'write',
  'delete',
  'payment',
  'credential',
  'admin',
  'exec',
  'memory_write',
  'agent_msg',
  'unknown',
] as const;

/** One of {@link toolTags}. */
export type ToolTag = (typeof toolTags)[number];

/** Set of tags as bits: bit `i` stands for `toolTags[i]`. */
export type TagBits = number;

const tagBit = new Map<string, TagBits>(toolTags.map((tag, index) => [tag, 1 << index]));

/** Returns the bits of the given tags. Throws a `RangeError` for an unknown tag. */
export function tagBits(...tags: readonly ToolTag[]): TagBits {
  let bits = 0;
  for (const tag of tags) {
    const bit = tagBit.get(tag);
    if (bit === undefined) {
      throw new RangeError(`unknown tag "${tag}"; use one of ${toolTags.join(', ')}`);
    }
    bits |= bit;
  }
  return bits;
}

/** Returns the tags of a set of bits, in the order of {@link toolTags}. */
export function tagsOf(bits: TagBits): ToolTag[] {
  return toolTags.filter((_, index) => (bits & (1 << index)) !== 0);
}

/** Tags of tools that change something instead of reading. */
export const actionBits: TagBits = tagBits(
  'external_comm',
  'write',
  'delete',
  'payment',
  'credential',
  'admin',
  'exec',
  'memory_write',
  'agent_msg',
);

/** Tags of actions that are hard to undo. */
export const irreversibleBits: TagBits = tagBits(
  'external_comm',
  'delete',
  'payment',
  'credential',
  'admin',
  'exec',
);

/** Returns how many bits are set, such as the tags of a set. */
export function bitCount(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}
