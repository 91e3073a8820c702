import { malformed, shown } from './log-error.ts';
import { parseVerifierKey, type VerifiedSignature, type VerifierKey } from './signed-note.ts';

/** A log that a policy trusts. */
export interface TrustedLog {
  readonly key: VerifierKey;
  readonly url?: string;
}

/** A witness that a policy knows. */
export interface TrustedWitness {
  /** Name within the policy. */
  readonly name: string;
  readonly key: VerifierKey;
  /** Prefix of the witness's `add-checkpoint`. */
  readonly url?: string;
}

/** A rule that holds if at least `needed` of its members have cosigned. */
interface Group {
  readonly needed: number;
  readonly members: readonly string[];
}

/** The logs and witnesses that a verifier trusts, and how many of the witnesses must have cosigned. */
export interface TrustPolicy {
  readonly logs: readonly TrustedLog[];
  readonly witnesses: readonly TrustedWitness[];
  /** `true` if the signatures of a checkpoint are enough. */
  isSatisfiedBy(signatures: readonly VerifiedSignature[]): boolean;
  /** The required cosignatures, in words. */
  readonly requirement: string;
}

/**
 * Parses a trust policy of C2SP tlog-policy: lines `log <vkey> [<url>]`, `witness <name> <vkey> [<url>]`,
 * `group <name> all|any|<k> <names>` and one `quorum <name>|none`.
 *
 * @throws LogError `malformed` when a line is anything else; the message has its number
 */
export function parsePolicy(text: string): TrustPolicy {
  const logs: TrustedLog[] = [];
  const witnesses: TrustedWitness[] = [];
  const groups = new Map<string, Group>();
  const used = new Set<string>();
  let quorum: string | undefined;
  const isDefined = (name: string) => groups.has(name) || witnesses.some((witness) => witness.name === name);

  for (const [index, line] of text.split('\n').entries()) {
    const field = `Line ${index + 1} of the policy`;
    const [keyword, ...items] = line.split(/[ \t]+/).filter((item) => item !== '');
    if (keyword === undefined || keyword.startsWith('#')) continue;
    if (/[^\t -~\u{80}-\u{10ffff}]/u.test(line)) {
      throw malformed(field, 'must not contain control characters; remove them.');
    }
    if (keyword === 'log') {
      const [vkey = '', url, ...more] = items;
      if (vkey === '' || more.length > 0) throw malformed(field, 'must be "log <key> [<url>]".');
      const key = parsePolicyKey(field, vkey, 'log');
      requireNewKey(field, key, logs);
      logs.push({ key, ...(url === undefined ? {} : { url }) });
    } else if (keyword === 'witness') {
      const [name = '', vkey = '', url, ...more] = items;
      if (vkey === '' || more.length > 0) throw malformed(field, 'must be "witness <name> <key> [<url>]".');
      const key = parsePolicyKey(field, vkey, 'witness');
      requireNewName(field, name, isDefined);
      requireNewKey(field, key, witnesses);
      witnesses.push({ name, key, ...(url === undefined ? {} : { url }) });
    } else if (keyword === 'group') {
      const [name = '', count = '', ...members] = items;
      requireNewName(field, name, isDefined);
      groups.set(name, { needed: parseCount(field, count, members.length), members });
      for (const member of members) {
        if (!isDefined(member) || member === name) {
          throw malformed(field, `must name members of lines above, got ${shown(member)}.`);
        }
        if (used.has(member))
          throw malformed(field, `must not have ${shown(member)}, which is a member already.`);
        used.add(member);
      }
    } else if (keyword === 'quorum') {
      const [name = '', ...more] = items;
      if (more.length > 0 || (name !== 'none' && !isDefined(name))) {
        throw malformed(
          field,
          `must be "quorum none" or name a witness or group of a line above, got ${shown(line)}.`,
        );
      }
      if (quorum !== undefined) throw malformed(field, 'must not be a second quorum; keep one.');
      quorum = name;
    } else {
      throw malformed(field, `must begin with log, witness, group or quorum, got ${shown(keyword)}.`);
    }
  }
  if (quorum === undefined) throw malformed('A policy', 'must have a line "quorum <name>" or "quorum none".');
  return policyOf(logs, witnesses, groups, quorum);
}

/** Options for {@link trustPolicy}. */
export interface TrustPolicyOptions {
  /** Verifier keys of witnesses. */
  readonly witnesses?: readonly string[];
  /** Number of witnesses that must have cosigned; all by default. */
  readonly needed?: number;
}

/**
 * Returns the policy that trusts one log, and demands cosignatures of some of the given witnesses.
 *
 * @throws LogError `malformed` when a key is not valid, or when more witnesses are needed than given
 */
export function trustPolicy(
  logKey: string,
  { witnesses = [], needed }: TrustPolicyOptions = {},
): TrustPolicy {
  const lines = [`log ${logKey}`, ...witnesses.map((key, index) => `witness w${index + 1} ${key}`)];
  const names = witnesses.map((_, index) => `w${index + 1}`).join(' ');
  const isNone = witnesses.length === 0 ? (needed ?? 0) === 0 : needed === 0;
  return parsePolicy(
    [
      ...lines,
      ...(isNone
        ? ['quorum none']
        : [`group all-witnesses ${needed ?? 'all'} ${names}`, 'quorum all-witnesses']),
    ].join('\n'),
  );
}

function policyOf(
  logs: readonly TrustedLog[],
  witnesses: readonly TrustedWitness[],
  groups: ReadonlyMap<string, Group>,
  quorum: string,
): TrustPolicy {
  const holds = (name: string, cosigned: ReadonlySet<string>): boolean => {
    const group = groups.get(name);
    if (!group) return cosigned.has(name);
    return group.members.filter((member) => holds(member, cosigned)).length >= group.needed;
  };
  const words = (name: string): string => {
    const group = groups.get(name);
    if (!group) return witnesses.find((witness) => witness.name === name)?.key.name ?? name;
    return `${group.needed} of (${group.members.map(words).join(', ')})`;
  };
  return {
    logs,
    witnesses,
    requirement: quorum === 'none' ? 'no witness' : words(quorum),
    isSatisfiedBy(signatures) {
      if (quorum === 'none') return true;
      const ids = new Set(signatures.map(({ key }) => key.text));
      return holds(quorum, new Set(witnesses.filter(({ key }) => ids.has(key.text)).map(({ name }) => name)));
    },
  };
}

function parsePolicyKey(field: string, vkey: string, kind: VerifierKey['kind']): VerifierKey {
  const key = parseVerifierKey(vkey);
  if (key.kind === kind) return key;
  throw malformed(field, `must have the key of a ${kind}, got that of a ${key.kind} (${key.name}).`);
}

function requireNewKey(
  field: string,
  key: VerifierKey,
  known: readonly { readonly key: VerifierKey }[],
): void {
  if (!known.some((other) => other.key.publicKey.equals(key.publicKey))) return;
  throw malformed(field, `must not repeat the public key of ${key.name}.`);
}

function requireNewName(field: string, name: string, isDefined: (name: string) => boolean): void {
  if (name !== '' && name !== 'none' && !isDefined(name)) return;
  throw malformed(field, `must have a name that is not taken, got ${shown(name)}.`);
}

function parseCount(field: string, count: string, members: number): number {
  const needed =
    count === 'all' ? members : count === 'any' ? 1 : /^[1-9]\d*$/.test(count) ? Number(count) : 0;
  if (needed >= 1 && needed <= members) return needed;
  throw malformed(field, `must need "all", "any" or 1 to ${members} of its members, got ${shown(count)}.`);
}
