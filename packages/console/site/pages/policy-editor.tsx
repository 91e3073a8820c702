import type { Actlog, Policy, PolicyCreate } from '@actlog/client';
import { type BacktestResult, backtestPolicies, getOverview, tryPolicies } from '@actlog/client/server';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { countText } from '../count-text.ts';
import { useAction } from '../hooks/use-action.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { replacePlace } from '../hooks/visit.ts';
import { hasKnownOwner, may } from '../identity.ts';
import { WayBack } from '../parts/empty-state.tsx';
import { fieldErrors } from '../parts/field.tsx';
import { PolicyForm, PolicySentence } from '../parts/policies/policy-form.tsx';
import { PolicyPacks } from '../parts/policies/policy-packs.tsx';
import { PolicyTrial } from '../parts/policies/policy-trial.tsx';
import { Problem } from '../parts/problem.tsx';
import { Table } from '../parts/table.tsx';
import {
  isBroad,
  matchesEverything,
  type PolicyDraft,
  type PolicyFields,
  policyChanges,
  policyFields,
  readPolicy,
} from '../policy-draft.ts';
import { href } from '../route.ts';

/** Id of a policy that is being created. */
const newId = 'new';

/** Fields of a policy that change which calls it decides. */
const reachFields = ['effect', 'mode', 'match', 'condition', 'rate', 'schedule'] as const;

/** Page with one policy, to read, change or create it. */
export function PolicyEditor({ id, query }: { id: string; query: URLSearchParams }) {
  const { client, identity } = useConnection();
  const [news, setNews] = useState('');
  const [isTrial, setTrial] = useState(false);
  const [question, setQuestion] = useState<Question>();
  const isNew = id === newId;
  const { data, error, reload } = useLoaded(id, async (signal) =>
    isNew ? undefined : client.policies.get(id, { signal }),
  );
  const [template, setTemplate] = useState<PolicyCreate>();
  const tool = query.get('tool');
  const isReadOnly = data?.status === 'archived' || !may(identity, 'manage');
  const save = useAction(async (fields: PolicyFields) => {
    setNews('');
    setTrial(false);
    setQuestion(undefined);
    const changes = data && policyChanges(data, fields);
    if (changes && Object.keys(changes).length === 0) return setNews('Nothing has changed.');
    const draft = readPolicy(fields, data);
    const isAsked = question?.of === JSON.stringify(fields);
    if (!isAsked && isBroad(draft) && (!changes || reachFields.some((name) => name in changes))) {
      return setQuestion({ of: JSON.stringify(fields), fields, text: await reachText(client, draft) });
    }
    if (changes === undefined) {
      const from = location.hash;
      const { id: made } = await client.policies.create(draft);
      // Users who have navigated on are not taken back, and Back does not lead to an empty form.
      if (location.hash === from) replacePlace(href(['policies', made]));
      return;
    }
    await client.policies.update(id, changes);
    setNews(`Saved. ${draft.mode === 'log_only' ? 'It logs from now on.' : 'It applies from now on.'}`);
    reload();
  });
  const [tried, setTried] = useState<{ readonly result: BacktestResult; readonly isAsEnforced: boolean }>();
  const backtest = useAction(async (fields: PolicyFields) => {
    setTried(undefined);
    setTrial(true);
    const draft = draftOf(fields);
    const isAsEnforced = draft.mode === 'enforce' && fields.mode !== 'enforce';
    setTried({ isAsEnforced, result: await backtestPolicies(client, { policies: [draft] }) });
  });
  // Of the button that was pressed last.
  const reader = useRef<(() => PolicyFields) | undefined>(undefined);
  /** Returns the policy as it is in the form, for a trial. One that has only logged until now is tried as if it were enforced. */
  const draftOf = (fields: PolicyFields): PolicyDraft => ({
    ...readPolicy(fields),
    ...((isNew || data?.mode === 'log_only') && { mode: 'enforce' }),
    // A stored policy is replaced by its name, which the draft may change.
    ...(data?.name !== undefined && { name: data.name }),
  });
  const failure = isTrial ? backtest.error : save.error;
  const errors = useMemo(() => fieldErrors(failure, policyField), [failure]);
  const fields = useMemo(
    () => ({
      ...policyFields((template as Policy | undefined) ?? data),
      ...(isNew && !template && tool && { tools: tool }),
    }),
    [template, data, tool],
  );
  return (
    <>
      <WayBack place="policies" title="Policies" />
      <h1>{isNew ? 'New policy' : (data?.name ?? id)}</h1>
      <Problem error={error} onRetry={reload} />
      {data?.status === 'archived' && (
        <p class="empty">This policy is archived: it no longer applies and cannot be changed.</p>
      )}
      {isNew && may(identity, 'manage') && (
        <PolicyPacks
          isOpen={query.has('packs')}
          onUse={(policy) => {
            setTemplate({ ...policy, mode: 'log_only' });
            setQuestion(undefined);
            scrollTo(0, 0);
          }}
        />
      )}
      {data !== undefined && isReadOnly && (
        <p class="in-words">
          <PolicySentence policy={data} />
        </p>
      )}
      {(isNew || data !== undefined) && (
        <PolicyForm
          key={template?.name}
          fields={fields}
          isNew={isNew}
          isReadOnly={isReadOnly}
          isBusy={save.isBusy}
          errors={errors}
          reader={reader}
          question={
            question && (
              <ReachQuestion
                text={question.text}
                button={isNew ? 'Create it' : 'Save it'}
                isBusy={save.isBusy}
                onConfirm={() => save.run(question.fields)}
                onCancel={() => setQuestion(undefined)}
              />
            )
          }
          onChange={() => setQuestion(undefined)}
          onSave={save.run}
          onTry={backtest.run}
        />
      )}
      <Problem error={errors === undefined ? failure : undefined} />
      <p role="status" class={news && 'news'}>
        {news}
      </p>
      <div role="status">
        {backtest.isBusy && <p class="faint">Trying it on the decisions of the last 30 days…</p>}
        {tried !== undefined && <BacktestReport {...tried} />}
      </div>
      {(isNew || data?.status === 'active') && may(identity, 'manage') && hasKnownOwner(identity) && (
        <PolicyTrial
          title="Try the policy in the form on an action"
          button="Try this action"
          onTry={(check) => {
            const fields = reader.current?.() ?? policyFields(data);
            // A policy is tried before it has a name.
            const draft = draftOf({ ...fields, name: fields.name || 'draft' });
            return tryPolicies(client, { policies: [draft], check });
          }}
        />
      )}
    </>
  );
}

/** Question before a policy is saved that reaches far. */
interface Question {
  readonly text: string;
  readonly fields: PolicyFields;
  /** The fields as text: a confirmation is for these alone. */
  readonly of: string;
}

/** Returns what a policy would have meant for the calls of yesterday. */
async function reachText(client: Actlog, draft: PolicyDraft): Promise<string> {
  const until = new Date();
  until.setHours(0, 0, 0, 0);
  const since = new Date(until);
  since.setDate(since.getDate() - 1);
  const range = { since, until };
  const count = (number: number, noun: string) =>
    `${number.toLocaleString('en-US')} ${noun}${number === 1 ? '' : 's'}`;
  // Other services have no counts, and a key may lack the scope to read them: the question is asked anyway.
  const [overview, result] = await Promise.all([
    matchesEverything(draft) ? getOverview(client, range).catch(() => undefined) : undefined,
    draft.mode === 'log_only'
      ? undefined
      : backtestPolicies(client, { policies: [draft], ...range }).catch(() => undefined),
  ]);
  const match = matchesEverything(draft)
    ? 'This policy matches every tool of every agent'
    : 'This policy can deny every tool of the agents that it matches';
  const known = overview ? `: ${count(overview.totals.calls, 'call')} yesterday.` : '.';
  if (!result) return match + known;
  const checked =
    result.decisions === 0
      ? ' No call was checked yesterday.'
      : ` Of ${count(result.decisions, 'decision')} yesterday, it would have changed ${count(result.changed, '').trim()}.`;
  const unknown =
    result.cannotTell > 0 ? ` For ${count(result.cannotTell, '').trim()} it cannot be told.` : '';
  return match + known + checked + unknown;
}

/** Question in place of the buttons of the form. The confirming button has the focus. */
function ReachQuestion({
  text,
  button,
  isBusy,
  onConfirm,
  onCancel,
}: {
  text: string;
  button: string;
  isBusy: boolean;
  onConfirm: () => void;
  onCancel: () => void;
}) {
  const confirm = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => confirm.current?.focus(), []);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what a form sends
    <div
      class="reach-question"
      role="group"
      aria-label="Reach of the policy"
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
    >
      <p role="alert">{text}</p>
      <p class="buttons">
        <button
          ref={confirm}
          type="button"
          class="danger"
          aria-disabled={isBusy}
          // Ignore the second half of a double click and repeated key events.
          onKeyDown={(event) => event.repeat && event.preventDefault()}
          onClick={(event) => {
            if (!isBusy && event.detail <= 1) onConfirm();
          }}
        >
          {button}
        </button>
        <button type="button" class="quiet" onClick={onCancel}>
          Cancel
        </button>
      </p>
    </div>
  );
}

type Name = keyof PolicyFields;

/** Fields of the form by the path in a policy, without the positions in lists. */
const fields: Readonly<Record<string, Name>> = {
  name: 'name',
  description: 'description',
  effect: 'effect',
  mode: 'mode',
  priority: 'priority',
  condition: 'condition',
  message: 'message',
  'match.agents': 'agents',
  'match.tools': 'tools',
  'match.frameworks': 'frameworks',
  'match.environments': 'environments',
  rate: 'rateMax',
  'rate.max': 'rateMax',
  'rate.windowSeconds': 'rateWindow',
  'rate.per': 'ratePer',
  approval: 'requiredApprovers',
  'approval.timeoutSeconds': 'timeout',
  'approval.onTimeout': 'onTimeout',
  'approval.requiredApprovers': 'requiredApprovers',
  'approval.approverKeys': 'approverKeys',
  'approval.approverGroups': 'approverGroups',
  'approval.editable': 'editable',
  schedule: 'scheduleZone',
  'schedule.timeZone': 'scheduleZone',
  'schedule.days': 'scheduleDays',
  'schedule.from': 'scheduleFrom',
  'schedule.to': 'scheduleTo',
};

/** Returns the field of a policy's form for a path of an error: `match.tools.0` is about `tools`; undefined for none. */
export function policyField(path: string): Name | undefined {
  // A backtest has a list of policies, of which the form is the only one.
  const own = path
    .replace(/^policies\.0\./, '')
    .replace(/\.\d+(\.(path|max|min|subset|oneOf|anyText))?(\.\d+)?$/, '');
  return Object.hasOwn(fields, own) ? fields[own] : undefined;
}

/** Maximum number of changes in the table. */
const shownChanges = 20;

/** Result of a backtest: a summary, and the decisions that would be different by tool and agent. */
function BacktestReport({
  result,
  isAsEnforced,
}: {
  result: BacktestResult;
  /** `true` if the policy only logs, and was tried as if it were enforced. */
  isAsEnforced: boolean;
}) {
  const { decisions, changed, cannotTell, changes } = result;
  const more = changes.length - shownChanges;
  return (
    <>
      <p>
        {isAsEnforced && 'As if it were enforced. '}
        {decisions === 0
          ? 'No decision was kept in the last 30 days.'
          : `Of ${countText(decisions)} decisions in the last 30 days, ${countText(changed)} would have been different.`}
        {cannotTell > 0 &&
          ` For ${countText(cannotTell)} it cannot be told, because the condition reads what was not shown.`}
      </p>
      {changes.length > 0 && (
        <Table
          caption="Decisions that would be different"
          columns={['Tool', 'Agent', 'Was', 'Would be', 'Count']}
        >
          {changes.slice(0, shownChanges).map(({ toolName, agentId, from, to, count: times, examples }) => (
            <tr key={examples[0]}>
              <th scope="row">
                <a
                  class="whole"
                  href={href(['decisions'], { agent: agentId, tool: toolName, decision: from })}
                >
                  {toolName}
                </a>
              </th>
              <td>
                <span class="whole">{agentId}</span>
              </td>
              <td>
                <span class={`badge effect-${from}`}>{from.replace('_', ' ')}</span>
              </td>
              <td>
                <span class={`badge effect-${to}`}>{to.replace('_', ' ')}</span>
              </td>
              <td class="number">{countText(times)}</td>
            </tr>
          ))}
        </Table>
      )}
      {more > 0 && <p class="faint">and {countText(more)} more combinations of tool and agent</p>}
    </>
  );
}
