import { ByteReader, ByteWriter } from '../codec/byte-reader.ts';
import { type Baseline, emptyBaseline } from './baseline.ts';
import type { PastSession } from './past-session.ts';

const formatVersion = 2;

function writeHashes(out: ByteWriter, hashes: ReadonlySet<number>): void {
  out.number(hashes.size);
  for (const hash of [...hashes].sort((a, b) => a - b)) out.number(hash);
}

function readHashes(input: ByteReader): Set<number> {
  return new Set(Array.from({ length: input.number() }, () => input.number()));
}

function writePast(out: ByteWriter, past: PastSession): void {
  out.number(past.tools.size);
  for (const [hash, count] of [...past.tools].sort(([a], [b]) => a - b)) {
    out.word(hash);
    out.number(count * 2 + (past.actions.has(hash) ? 1 : 0));
  }
  writeHashes(out, past.rules);
  for (const value of [past.tags, past.acts, past.looks, past.hour]) out.number(value);
}

function readPast(input: ByteReader): PastSession {
  const tools = new Map<number, number>();
  const actions = new Set<number>();
  for (let left = input.number(); left > 0; left--) {
    const hash = input.word();
    const value = input.number();
    tools.set(hash, Math.floor(value / 2));
    if (value % 2 === 1) actions.add(hash);
  }
  const rules = readHashes(input);
  const [tags, acts, looks, hour] = [input.number(), input.number(), input.number(), input.number()];
  return { tools, actions, rules, tags, acts, looks, hour };
}

/** Serializes a baseline to a string of a few kilobytes. Equal baselines give equal strings. */
export function serializeBaseline(baseline: Baseline): string {
  const out = new ByteWriter();
  const sessions = baseline.sessions.entries();
  out.number(formatVersion);
  out.number(sessions.length);
  for (const [session, { past }] of sessions) {
    out.word(session);
    writePast(out, past);
  }
  return out.toString();
}

/** Parses the output of {@link serializeBaseline}. Throws a `RangeError` for any other string. */
export function parseBaseline(text: string): Baseline {
  const input = new ByteReader(text);
  const format = input.number();
  if (format !== formatVersion) {
    throw new RangeError(
      `risk baseline has format ${format}, this version reads ${formatVersion}; start with an empty baseline`,
    );
  }
  const baseline = emptyBaseline();
  for (let left = input.number(); left > 0; left--) {
    const session = input.word();
    const past = readPast(input);
    baseline.sessions.reach(session, () => ({ past }));
  }
  return baseline;
}
