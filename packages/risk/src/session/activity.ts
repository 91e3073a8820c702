import { hash32 } from '../codec/byte-reader.ts';
import type { EventContext, RiskEvent } from '../risk-event.ts';
import { type NounClass, nounClassNames } from '../taxonomy/nouns.ts';
import { actionBits, tagBits } from '../taxonomy/tag.ts';
import { type ActKind, actKindOf, profileOf, type ToolProfile } from '../taxonomy/tool-profile.ts';
import { verbClasses } from '../taxonomy/verbs.ts';
import type { EntryKind } from './actions.ts';
import { outcomeMarks, unread } from './mark.ts';

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
  /** Index in `outcomeMarks`, or `unread`; `throttled` for a denial by an exceeded rate. */
  readonly outcome: number;
}

const untrusted = tagBits('ingest_untrusted');
/** Objects whose text comes from the workspace itself. */
const workspace: ReadonlySet<NounClass> = new Set(['file', 'code', 'data', 'memory'] as const);

/** Names of tools that read pages of the web without saying so. */
const opensPages = /(?:^|[_.:-])(?:browse|crawl|fetch|scrape|visit)(?:$|[_.:A-Z-])/;

function numbered(name: string, profile: ToolProfile, override?: number): NumberedTool {
  const bits = override ?? profile.bits;
  const acts = (bits & actionBits) !== 0;
  return {
    name,
    hash: hash32(name),
    bits,
    verb: profile.verb === undefined ? 0 : verbClasses.indexOf(profile.verb) + 1,
    noun: profile.noun === undefined ? 0 : nounClassNames.indexOf(profile.noun) + 1,
    acts,
    actKind: actKindOf(name, profile, bits, acts),
    isOutside:
      (bits & untrusted) !== 0 &&
      (profile.noun === undefined ? opensPages.test(name) : !workspace.has(profile.noun)),
  };
}

const maxRemembered = 4096;
const remembered = new Map<string, NumberedTool>();

/** Returns a tool by its name, with the tenant's tags if there are any. */
export function toolNamed(name: string, tags: ReadonlyMap<string, number> | undefined): NumberedTool {
  const override = tags?.get(name);
  if (override !== undefined) return numbered(name, profileOf(name), override);
  let tool = remembered.get(name);
  if (tool === undefined) {
    tool = numbered(name, profileOf(name));
    if (remembered.size >= maxRemembered) remembered.clear();
    remembered.set(name, tool);
  }
  return tool;
}

const messageIndex = numbered('agent_message', {
  bits: tagBits('agent_msg'),
  verb: 'send',
  noun: 'agent',
  acts: true,
});
const memory = numbered('memory_write', {
  bits: tagBits('memory_write'),
  verb: 'remember',
  noun: 'memory',
  acts: true,
});

const outcomeIndex = Object.fromEntries(outcomeMarks.map((mark, index) => [mark, index])) as Record<
  (typeof outcomeMarks)[number],
  number
>;

function outcomeOf(status: number | null | undefined): number {
  if (status === null || status === undefined) return outcomeIndex.unanswered;
  if (status === 401 || status === 403) return outcomeIndex.unauthorized;
  if (status === 429) return outcomeIndex.throttled;
  if (status >= 500) return outcomeIndex.server_error;
  return status >= 400 ? outcomeIndex.client_error : outcomeIndex.answered;
}

const fastApprovalMs = 3000;

const decisions = new Map<string, EntryKind>([
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
        tool: message ? messageIndex : memory,
        argument: content === undefined ? 0 : hash32(content),
        outcome: outcomeIndex.answered,
      };
    }
    case 'guardian_decision': {
      const kind = decisions.get(text(event.payload, 'decision') ?? '');
      if (kind === undefined) return undefined;
      const { heldMs, rate } = event.payload ?? {};
      const isNotNow = kind === 'policy_denied' && typeof rate === 'object' && rate !== null;
      const isUnread = kind === 'approved' && typeof heldMs === 'number' && heldMs < fastApprovalMs;
      return {
        kind,
        tool: toolNamed(toolName ?? '', context.tags),
        argument: given === undefined ? 0 : hash32(given),
        outcome: isNotNow ? outcomeIndex.throttled : isUnread ? unread : outcomeIndex.answered,
      };
    }
    default:
      return undefined;
  }
}
