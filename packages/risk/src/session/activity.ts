import { hash32 } from '../codec/hash32.ts';
import type { EventContext, RiskEvent } from '../risk-event.ts';
import { type ActKind, actKindOf } from '../taxonomy/act-kind.ts';
import { NOUN_CLASS_NAMES, type NounClass } from '../taxonomy/nouns.ts';
import { ACTION_BITS, tagBits } from '../taxonomy/tag.ts';
import { profileOf, type ToolProfile } from '../taxonomy/tool-profile.ts';
import { VERB_CLASSES } from '../taxonomy/verbs.ts';
import type { EntryKind } from './actions.ts';
import { OUTCOME_MARKS, UNREAD } from './mark.ts';

/** A tool by its name, with its classification as numbers. */
export interface NumberedTool {
  readonly name: string;
  readonly hash: number;
  readonly bits: number;
  readonly verb: number;
  readonly noun: number;
  readonly acts: boolean;
  readonly actKind: ActKind;
  /** `true` if it returns text that was written outside the workspace, such as a web page, a mail or an issue. */
  readonly isOutside: boolean;
}

/** Action or decision that an event records. */
export interface Activity {
  readonly kind: EntryKind;
  readonly tool: NumberedTool;
  /** Hash of the tool's arguments; 0 if the event has none. */
  readonly argument: number;
  /** Index in `OUTCOME_MARKS`, or `UNREAD`; `throttled` for a denial by an exceeded rate. */
  readonly outcome: number;
}

const UNTRUSTED = tagBits('ingest_untrusted');
/** Objects whose text comes from the workspace itself. */
const WORKSPACE: ReadonlySet<NounClass> = new Set(['file', 'code', 'data', 'memory'] as const);

function numbered(name: string, profile: ToolProfile, override?: number): NumberedTool {
  const bits = override ?? profile.bits;
  const acts = (bits & ACTION_BITS) !== 0;
  return {
    name,
    hash: hash32(name),
    bits,
    verb: profile.verb === undefined ? 0 : VERB_CLASSES.indexOf(profile.verb) + 1,
    noun: profile.noun === undefined ? 0 : NOUN_CLASS_NAMES.indexOf(profile.noun) + 1,
    acts,
    actKind: actKindOf(name, profile, bits, acts),
    isOutside: (bits & UNTRUSTED) !== 0 && profile.noun !== undefined && !WORKSPACE.has(profile.noun),
  };
}

const MAX_REMEMBERED = 4096;
const remembered = new Map<string, NumberedTool>();

/** Returns a tool by its name, with the tenant's own tags where there are any. */
export function toolNamed(name: string, tags: ReadonlyMap<string, number> | undefined): NumberedTool {
  const override = tags?.get(name);
  if (override !== undefined) return numbered(name, profileOf(name), override);
  let tool = remembered.get(name);
  if (tool === undefined) {
    tool = numbered(name, profileOf(name));
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(name, tool);
  }
  return tool;
}

const MESSAGE = numbered('agent_message', {
  bits: tagBits('agent_msg'),
  verb: 'send',
  noun: 'agent',
  acts: true,
});
const MEMORY = numbered('memory_write', {
  bits: tagBits('memory_write'),
  verb: 'remember',
  noun: 'memory',
  acts: true,
});

const OUTCOME = Object.fromEntries(OUTCOME_MARKS.map((mark, index) => [mark, index])) as Record<
  (typeof OUTCOME_MARKS)[number],
  number
>;

function outcomeOf(status: number | null | undefined): number {
  if (status === null || status === undefined) return OUTCOME.unanswered;
  if (status === 401 || status === 403) return OUTCOME.unauthorized;
  if (status === 429) return OUTCOME.throttled;
  if (status >= 500) return OUTCOME.server_error;
  return status >= 400 ? OUTCOME.client_error : OUTCOME.answered;
}

const FAST_APPROVAL_MS = 3000;

const DECISIONS = new Map<string, EntryKind>([
  ['deny', 'policy_denied'],
  ['require_approval', 'held'],
  ['approved', 'approved'],
  ['denied', 'refused'],
  ['expired', 'lapsed'],
]);

function text(payload: RiskEvent['payload'], field: string): string | undefined {
  const value = payload?.[field];
  return typeof value === 'string' ? value : undefined;
}

/** Returns the action or decision that an event records; undefined for other events. */
export function activityOf(event: RiskEvent, context: EventContext): Activity | undefined {
  const toolName = event.toolName ?? text(event.payload, 'toolName');
  const given = event.argumentsHash ?? text(event.payload, 'argumentsHash');
  switch (event.category) {
    case 'tool_api':
      return {
        kind: 'call',
        tool: toolNamed(toolName ?? '', context.tags),
        argument: given === undefined ? 0 : hash32(given),
        outcome: outcomeOf(event.responseStatus),
      };
    case 'agent_message':
    case 'memory_write': {
      const content = text(event.payload, 'contentHash');
      const message = event.category === 'agent_message';
      return {
        kind: message ? 'message' : 'memory',
        tool: message ? MESSAGE : MEMORY,
        argument: content === undefined ? 0 : hash32(content),
        outcome: OUTCOME.answered,
      };
    }
    case 'guardian_decision': {
      const kind = DECISIONS.get(text(event.payload, 'decision') ?? '');
      if (kind === undefined) return undefined;
      const { heldMs, rate } = event.payload ?? {};
      const isNotNow = kind === 'policy_denied' && typeof rate === 'object' && rate !== null;
      const isUnread = kind === 'approved' && typeof heldMs === 'number' && heldMs < FAST_APPROVAL_MS;
      return {
        kind,
        tool: toolNamed(toolName ?? '', context.tags),
        argument: given === undefined ? 0 : hash32(given),
        outcome: isNotNow ? OUTCOME.throttled : isUnread ? UNREAD : OUTCOME.answered,
      };
    }
    default:
      return undefined;
  }
}
