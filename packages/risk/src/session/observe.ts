import { hash32 } from '../codec/hash32.ts';
import type { EventContext, RiskEvent } from '../risk-event.ts';
import { tagBits } from '../taxonomy/tag.ts';
import { type Deed, deedOf, type NumberedTool } from './deed.ts';
import { ENTRY_KINDS } from './event-log.ts';
import { count, MARK_INDEX, MARKS_WITH_ID, OUTCOME_MARKS, type Tally, UNREAD } from './mark.ts';
import type { SessionState } from './session-state.ts';

const NO_CONTEXT: EventContext = {};
const FIRST_OUTCOME = MARK_INDEX[OUTCOME_MARKS[0]];
const LOSS_BITS = tagBits('delete', 'payment');
const MAX_NAME_BYTES = 24;
const MAX_VERSION_LENGTH = 8;
const MAX_EVENT_ID_LENGTH = 36;

/** The start of a name that fits into the stored form, marked where something was cut off. */
function shortName(name: string): string {
  let short = '';
  let bytes = 0;
  for (const character of name) {
    const point = character.codePointAt(0) as number;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes > MAX_NAME_BYTES - 3)
      return short.length + 3 >= name.length ? name.slice(0, MAX_NAME_BYTES) : `${short}…`;
    short += character;
  }
  return short;
}

function mark(state: SessionState, index: number, timestampMs: number, eventId: string): void {
  count(state.marks[index] as Tally, timestampMs, index < MARKS_WITH_ID ? eventId : '');
}

// A tool that was only decided on is kept with a count of 0, so that an explanation can name it.
function countTool(state: SessionState, tool: NumberedTool, calls: number): void {
  const tally = state.tools.reach(tool.hash, () => ({
    name: shortName(tool.name),
    bits: tool.bits,
    verb: tool.verb,
    noun: tool.noun,
    count: 0,
  }));
  if (tally !== undefined) tally.count += calls;
}

function countDeed(state: SessionState, deed: Deed, at: number, id: string): void {
  const { kind, tool } = deed;
  if (kind === 'call' || kind === 'message' || kind === 'memory') {
    mark(state, MARK_INDEX[kind], at, id);
    mark(state, tool.acts ? MARK_INDEX.act : MARK_INDEX.look, at, id);
    for (let tag = 0, bits = tool.bits; bits !== 0; tag++, bits >>>= 1)
      if (bits & 1) mark(state, tag, at, id);
    countTool(state, tool, 1);
    state.calls.add(at);
    if (kind !== 'call') return;
    mark(state, FIRST_OUTCOME + deed.outcome, at, id);
    if (deed.argument !== 0) state.repeats.add(tool.hash ^ deed.argument);
    if (tool.bits & LOSS_BITS) state.losses.add(at);
    return;
  }
  countTool(state, tool, 0);
  mark(state, MARK_INDEX[kind], at, id);
  if (kind === 'approved') {
    state.approvals.add(at);
    if (deed.outcome === UNREAD) mark(state, MARK_INDEX.approved_fast, at, id);
  }
}

function countAgent(state: SessionState, event: RiskEvent, failed: boolean): void {
  const agent = state.agents.reach(hash32(event.agentId), () => ({ count: 0, failures: 0 }));
  if (agent === undefined) return;
  agent.count += 1;
  if (failed) agent.failures += 1;
}

function countVersion(state: SessionState, version: string, at: number): void {
  const short = version.slice(0, MAX_VERSION_LENGTH);
  const tally = state.versions.reach(hash32(short), () => ({ version: short, firstMs: at, lastMs: at }));
  if (tally === undefined) return;
  if (at < tally.firstMs) tally.firstMs = at;
  if (at > tally.lastMs) tally.lastMs = at;
}

/**
 * Adds one event to a session's state, in any order, each event once. Costs about a microsecond.
 * A time before 1970 counts as 1970.
 */
export function observe(state: SessionState, event: RiskEvent, context: EventContext = NO_CONTEXT): void {
  const at = Math.max(0, Math.trunc(event.timestampMs));
  const id =
    event.eventId.length > MAX_EVENT_ID_LENGTH ? event.eventId.slice(0, MAX_EVENT_ID_LENGTH) : event.eventId;
  const stamp = context.stamp ?? 0;
  const deed = deedOf(event, context);
  if (state.session === 0) state.session = hash32(event.sessionId);
  state.eventCount += 1;
  countAgent(state, event, deed !== undefined && deed.kind === 'call' && deed.outcome !== 0);
  // The service writes decisions in its own version, whatever the agents send.
  if (event.category !== 'guardian_decision') countVersion(state, event.schemaVersion, at);
  for (let bit = 0, bits = stamp; bits !== 0 && bit < state.stamps.length; bit++, bits >>>= 1) {
    if (bits & 1) count(state.stamps[bit] as Tally, at, id);
  }
  if (event.category === 'llm_call') mark(state, MARK_INDEX.llm, at, id);
  if (event.category === 'agent_message' && typeof event.payload?.toAgentId === 'string') {
    state.recipients.reach(hash32(event.payload.toAgentId), () => true);
  }
  if (deed === undefined) return;
  countDeed(state, deed, at, id);
  state.log.total += 1;
  if (!state.log.keeps(at, id)) return;
  state.log.add({
    timestampMs: at,
    eventId: id,
    tool: deed.tool.hash,
    argument: deed.argument,
    bits: deed.tool.bits,
    verb: deed.tool.verb,
    noun: deed.tool.noun,
    kind: ENTRY_KINDS.indexOf(deed.kind),
    outcome: deed.outcome,
    stamp,
  });
}
