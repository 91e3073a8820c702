/**
 * What a tool does, as far as its name tells. A tool may carry several tags.
 *
 * - `read_private`: reads what belongs to the user or the organisation.
 * - `ingest_untrusted`: brings in text that somebody else may have written.
 * - `external_comm`: sends something to another person or place.
 * - `write`, `delete`: changes or removes a stored thing.
 * - `payment`: moves or commits money.
 * - `credential`: touches a secret or a way to sign in.
 * - `admin`: changes who may do what, or how a system runs.
 * - `exec`: runs code or a command, or drives a computer.
 * - `memory_write`: writes what later sessions will read.
 * - `agent_msg`: addresses another agent.
 * - `unknown`: the name says nothing that the taxonomy knows.
 */
export const TOOL_TAGS = [
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

/** One of {@link TOOL_TAGS}. */
export type ToolTag = (typeof TOOL_TAGS)[number];

/** A set of tags as bits: bit `i` stands for `TOOL_TAGS[i]`. */
export type TagBits = number;

const BIT = new Map<string, TagBits>(TOOL_TAGS.map((tag, index) => [tag, 1 << index]));

/** The bits of the given tags. A name that is no tag throws a `RangeError`. */
export function tagBits(...tags: readonly ToolTag[]): TagBits {
  let bits = 0;
  for (const tag of tags) {
    const bit = BIT.get(tag);
    if (bit === undefined) {
      throw new RangeError(`tag "${tag}" is not known: use one of ${TOOL_TAGS.join(', ')}`);
    }
    bits |= bit;
  }
  return bits;
}

/** The tags of a set of bits, in the order of {@link TOOL_TAGS}. */
export function tagsOf(bits: TagBits): ToolTag[] {
  return TOOL_TAGS.filter((_, index) => (bits & (1 << index)) !== 0);
}

/** The tags that change the world rather than look at it. */
export const ACTION_BITS: TagBits = tagBits(
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

/** The tags of actions that can hardly be taken back. */
export const GRAVE_BITS: TagBits = tagBits(
  'external_comm',
  'delete',
  'payment',
  'credential',
  'admin',
  'exec',
);
