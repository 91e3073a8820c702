import { ByteReader, ByteWriter, hash32 } from '../codec/byte-reader.ts';
import { stampIndex } from '../risk-event.ts';
import type { RiskScore } from '../risk-score.ts';
import { BottomK } from '../session/bottom-k.ts';
import { sessionMarkIndex } from '../session/mark.ts';
import type { SessionState } from '../session/session-state.ts';
import { hasForeignAct, type PastSession, pastSession } from './past-session.ts';

/** Number of past sessions from which an expectation has full confidence. */
export const fullConfidenceSessions = 3;
const nearest = 5;

/** Expectation for a session, derived from similar past sessions. */
export interface Expectation {
  /** Past sessions that the expectation is based on. */
  readonly near: readonly PastSession[];
  /** All past sessions of the baseline. */
  readonly all: readonly PastSession[];
  /** Confidence from 0 (nothing learned) to 1 (three or more sessions). */
  readonly confidence: number;
}

function likeness(looks: ReadonlySet<number>, past: PastSession): number {
  let shared = 0;
  let theirs = 0;
  for (const tool of past.tools.keys()) {
    if (past.actions.has(tool)) continue;
    theirs += 1;
    if (looks.has(tool)) shared += 1;
  }
  const all = looks.size + theirs - shared;
  return all === 0 ? 1 : shared / all;
}

/**
 * Selects the past sessions whose reads are most similar to the given ones. An agent may have several workflows: the
 * reads identify the workflow, and the actions are then compared with that workflow only.
 *
 * @param looks Hashes of the tools that the session reads with.
 */
export function expectationFor(
  baseline: Baseline | undefined,
  looks: ReadonlySet<number>,
): Expectation | undefined {
  const all = baseline?.sessions.entries().map(([, { past }]) => past) ?? [];
  if (all.length === 0) return undefined;
  const near =
    all.length <= nearest
      ? all
      : all
          .map((past, index) => ({ past, index, likeness: likeness(looks, past) }))
          .sort((a, b) => b.likeness - a.likeness || a.index - b.index)
          .slice(0, nearest)
          .map(({ past }) => past);
  return { near, all, confidence: Math.min(1, near.length / fullConfidenceSessions) ** 2 };
}

/** Returns the share of the near sessions that pass the test, 0 to 1. */
export function shareOf(expectation: Expectation, test: (past: PastSession) => boolean): number {
  let count = 0;
  for (const past of expectation.near) if (test(past)) count += 1;
  return count / expectation.near.length;
}

/** Returns the largest value among the near sessions. */
export function mostOf({ near }: Expectation, measure: (past: PastSession) => number): number {
  let most = 0;
  for (const past of near) most = Math.max(most, measure(past));
  return most;
}

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

/** Number of sessions that a baseline keeps. */
export const keptSessions = 16;

/**
 * Baseline of an agent or of one of its workflows: a sample of its past sessions. The sample depends only on the set of
 * learned sessions: confirmed sessions come first, then those whose ids have the smallest hashes. It is therefore the
 * same for any order of learning, and flooding it with sessions gains no more than a proportional share.
 */
export interface Baseline {
  readonly sessions: BottomK<{ past: PastSession }>;
}

/** Creates a baseline that has learned nothing. */
export function emptyBaseline(): Baseline {
  return { sessions: new BottomK(keptSessions) };
}

const elsewhere = ruleHash('privilege.agent-elsewhere');
const calls = ['call', 'message', 'memory'] as const;

/** First sort key of unconfirmed sessions; confirmed ones sort before it. */
const unconfirmedFlag = 2 ** 31;

/** Returns the 16-bit hash by which a baseline remembers a rule. */
export function ruleHash(ruleId: string): number {
  return hash32(ruleId) & 0xffff;
}

/** Returns the sort key of a session. A session that is learned again keeps its key. */
function placeOf({ sessions }: Baseline, session: number, isConfirmed: boolean): number {
  const confirmed = session >>> 1;
  const unconfirmed = confirmed + unconfirmedFlag;
  if (sessions.get(confirmed)) return confirmed;
  return isConfirmed && !sessions.get(unconfirmed) ? confirmed : unconfirmed;
}

function hasCalls({ marks }: SessionState): boolean {
  return calls.some((mark) => (marks[sessionMarkIndex[mark]]?.count ?? 0) > 0);
}

/** Removes a session that turned out to be an attack. Returns `true` if the baseline had learned it. */
export function forget({ sessions }: Baseline, { session }: SessionState): boolean {
  const confirmed = session >>> 1;
  const places = [confirmed, confirmed + unconfirmedFlag];
  return places.filter((place) => sessions.drop(place)).length > 0;
}

/** Options for {@link learn}. */
export interface LearnOptions {
  /**
   * `true` if a person reviewed the session and found it benign: it is then learned at any score. This is the only way
   * to learn a baseline for an agent whose known-good sessions score `medium` or above. Default: false.
   */
  readonly isConfirmed?: boolean;
}

/**
 * Adds a finished session to a baseline; a session that is learned again counts once. Sessions without a call are not
 * learned. Sessions that score `medium` or above, or in which third-party text aimed an action, are only learned
 * if a person confirmed them, so that suspicious behavior does not become normal.
 *
 * `score` must be the session's score against the baseline that was frozen when it started.
 * Returns `true` if the session was learned; it is not if the sample has no place for it.
 */
export function learn(
  baseline: Baseline,
  state: SessionState,
  score: RiskScore,
  { isConfirmed = false }: LearnOptions = {},
): boolean {
  const isSuspect = score.level !== 'low' || hasForeignAct(state);
  if (isSuspect && !isConfirmed) return false;
  if (!hasCalls(state)) return false;
  const rules = score.dimensions.flatMap((dimension) =>
    dimension.factors.map((factor) => ruleHash(factor.ruleId)),
  );
  // The rule does not match where this is usual; what is usual would be forgotten, and match again.
  if ((state.stamps[stampIndex.agent_elsewhere]?.count ?? 0) > 0) rules.push(elsewhere);
  const past = pastSession(state, rules);
  const kept = baseline.sessions.reach(placeOf(baseline, state.session, isSuspect), () => ({ past }));
  if (kept !== undefined) kept.past = past;
  return kept !== undefined;
}
