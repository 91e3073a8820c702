import { stringifyExactJson, wholeScore } from '@actlog/protocol';
import type { SessionSummary } from '../storage/sessions/session-store.ts';
import type { Card, Fact, ShownAction } from './channel.ts';

/** Characters that reorder text, are invisible, or break a line. */
const hidden = /(?!\n)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

/**
 * Returns text with invisible and reordering characters written as escapes such as `\u202e`, so that an approver sees
 * what is there. JSON stays equivalent JSON.
 */
export function visible(text: string): string {
  return text.replaceAll(hidden, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** Returns text on one line. */
export function line(text: string): string {
  return visible(text.replaceAll(/\s+/gu, ' ').trim());
}

/**
 * Returns the address of a trace.
 *
 * @param traceUrl - address of any trace, with `{traceId}` and perhaps `{spanId}`; `undefined` if the deployment names no tracer
 */
function addressOfTrace(traceUrl: string | undefined, traceparent: string): string | undefined {
  const [, traceId = '', spanId = ''] = traceparent.split('-');
  return traceUrl?.replaceAll('{traceId}', traceId).replaceAll('{spanId}', spanId);
}

/** Returns the facts of a held action for its approvers: exactly what the decision binds, and what it is judged by. */
export function cardOf(
  action: ShownAction,
  session: SessionSummary | undefined,
  traceUrl: string | undefined,
): Card {
  const {
    toolName,
    arguments: shown,
    argumentsHash,
    origins,
  } = action.action as {
    readonly toolName: string;
    readonly arguments?: object;
    readonly argumentsHash: string;
    readonly origins?: unknown;
  };
  const agent = agentOf(action);
  const facts: Fact[] = [
    { label: 'Tool', text: line(toolName) },
    { label: 'Agent', text: agent },
    ...(action.principal ? [{ label: 'For', text: line(action.principal) }] : []),
    // Part of what an approval is for.
    ...(action.identity
      ? [
          {
            label: 'Identity',
            text: line(`${action.identity.subject}, verified by ${action.identity.issuer}`),
          },
        ]
      : []),
    { label: 'Policy', text: line(action.policyName ?? '') || action.policyId },
    { label: 'Reason', text: line(action.reason) },
    { label: 'Arguments hash', text: line(argumentsHash) },
    { label: 'Risk', text: riskSentence(action.sessionId, session) },
    ...(action.sessionId === null ? [] : [{ label: 'Session', text: line(action.sessionId) }]),
    ...(action.traceparent
      ? [
          {
            label: 'Trace',
            text: line(action.traceparent.split('-')[1] ?? ''),
            url: addressOfTrace(traceUrl, action.traceparent),
          },
        ]
      : []),
    { label: 'Approval', text: approvalSentence(action) },
    { label: 'Expires', text: expirySentence(action) },
  ];
  return {
    title: `${line(toolName)} by ${agent}`,
    state: stateSentence(action),
    facts,
    argumentsText: shown === undefined ? undefined : visible(indented(shown)),
    changes: Object.entries(action.changedArguments ?? {}).map(
      ([path, value]) => `${line(path)}: ${line(stringifyExactJson(value) ?? 'null')}`,
    ),
    origins: originLines(origins),
  };
}

/** Returns shown arguments as JSON over several lines, with all digits. */
function indented(shown: object): string {
  const { rawJSON } = JSON as unknown as { readonly rawJSON: (source: string) => unknown };
  const keep = (_name: string, value: unknown, context: { readonly source?: string }) =>
    typeof value === 'number' && context.source !== undefined ? rawJSON(context.source) : value;
  const exact = JSON.parse(stringifyExactJson(shown) as string, keep as never);
  return JSON.stringify(exact, null, 2);
}

function agentOf({ agentId, subagent, parentAgentIds = [] }: ShownAction): string {
  const inner = subagent ? ` · ${line(subagent)}` : '';
  const outer = parentAgentIds.length === 0 ? '' : `, inside ${parentAgentIds.map(line).join(', ')}`;
  return `${line(agentId)}${inner}${outer}`;
}

function riskSentence(sessionId: string | null, session: SessionSummary | undefined): string {
  if (sessionId === null) return 'The action has no session, so no risk is known.';
  const { risk_score: score, risk_level: level } = session ?? {};
  if (score == null || level == null) return 'The session has no risk score yet.';
  return `The session has a risk of ${wholeScore(score)} of 100 (${level}).`;
}

function approvalSentence({ approvals, singleUse }: ShownAction): string {
  const { required, given, approverGroups, approverKeys, notRequester } = approvals;
  return [
    required > 1 ? `${given.length} of ${required} approvals; one denial denies.` : 'One approval is enough.',
    ...(given.length > 0 && required > 1
      ? [`Approved by ${given.map(({ principal, approvedBy }) => line(principal ?? approvedBy)).join(', ')}.`]
      : []),
    ...(approverGroups ? [`Only people of ${approverGroups.map(line).join(', ')} can approve.`] : []),
    ...(approverKeys ? ['Only certain people or keys can approve.'] : []),
    ...(notRequester ? ['The requester cannot approve.'] : []),
    ...(singleUse ? ['The approval is for one call.'] : []),
  ].join(' ');
}

function expirySentence({ expiresAt, onTimeout }: ShownAction): string {
  const outcome = onTimeout === 'allow' ? 'allowed' : 'denied';
  return `${expiresAt.slice(0, 19).replace('T', ' ')} UTC, and is then ${outcome}.`;
}

function stateSentence({ status, decision, approvals, onTimeout, changedArguments }: ShownAction): string {
  if (status === 'pending') {
    const { given, required } = approvals;
    return required > 1
      ? `Waits for a decision: ${given.length} of ${required} approvals.`
      : 'Waits for a decision.';
  }
  if (status === 'withdrawn') return 'Withdrawn: its prompt was answered where the agent runs.';
  if (!decision) {
    return `Expired: nobody decided in time, so it is ${onTimeout === 'allow' ? 'allowed' : 'denied'}.`;
  }
  const who = line(decision.principal ?? decision.decidedBy);
  const comment = decision.comment ? ` “${line(decision.comment)}”` : '';
  const changed = changedArguments ? ', with changed arguments' : '';
  return `${status === 'approved' ? 'Approved' : 'Denied'} by ${who}${changed}.${comment}`;
}

/** Words for an origin by its source; the tool follows where one is known. */
const originWords: Readonly<Record<string, string>> = {
  user: 'from what the user said',
  system: 'from the system prompt',
  model: 'written by the model',
  unknown: 'not known (older texts were dropped from memory)',
};

function originLines(origins: unknown): string[] {
  if (typeof origins !== 'object' || origins === null) return [];
  return Object.entries(origins).map(([path, origin]) => {
    const { from, as, toolName } = (origin ?? {}) as Readonly<Record<string, unknown>>;
    const form = as === 'field' ? 'a field' : as === 'text' ? 'from the text' : 'from what';
    const words =
      from === 'tool'
        ? `${form} that ${typeof toolName === 'string' ? line(toolName) : 'an earlier call'} returned`
        : (originWords[String(from)] ?? 'not known to this server');
    return `${line(path)}: ${words}`;
  });
}
