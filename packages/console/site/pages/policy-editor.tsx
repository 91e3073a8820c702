import { type BacktestResult, backtestPolicies, tryPolicies } from '@actlog/client/server';
import { useMemo, useRef, useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { useAction } from '../hooks/use-action.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { replacePlace } from '../hooks/visit.ts';
import { hasKnownOwner, may } from '../identity.ts';
import { WayBack } from '../parts/empty-state.tsx';
import { fieldErrors } from '../parts/field.tsx';
import { BacktestReport } from '../parts/policies/backtest-report.tsx';
import { PolicyForm } from '../parts/policies/policy-form.tsx';
import { PolicyTrial } from '../parts/policies/policy-trial.tsx';
import { Problem } from '../parts/problem.tsx';
import { type PolicyFields, policyChanges, policyFields, readPolicy } from '../policy-draft.ts';
import { href } from '../route.ts';

/** Id of a policy that is being created. */
const newId = 'new';

/** Page with one policy, to read, change or create it. */
export function PolicyEditor({
  id,
  tool,
}: {
  id: string;
  /** Initial tool of a new policy. */
  tool: string | undefined;
}) {
  const { client, identity } = useConnection();
  const [news, setNews] = useState('');
  const [isTrial, setTrial] = useState(false);
  const isNew = id === newId;
  const { data, error, reload } = useLoaded(id, async (signal) =>
    isNew ? undefined : client.policies.get(id, { signal }),
  );
  const save = useAction(async (fields: PolicyFields) => {
    setNews('');
    setTrial(false);
    if (data === undefined) {
      const from = location.hash;
      const { id: made } = await client.policies.create(readPolicy(fields));
      // Users who have navigated on are not taken back, and Back does not lead to an empty form.
      if (location.hash === from) replacePlace(href(['policies', made]));
      return;
    }
    const changes = policyChanges(data, fields);
    if (Object.keys(changes).length === 0) return setNews('Nothing has changed.');
    await client.policies.update(id, changes);
    setNews('Saved. It applies from now on.');
    reload();
  });
  const [tried, setTried] = useState<BacktestResult>();
  const backtest = useAction(async (fields: PolicyFields) => {
    setTried(undefined);
    setTrial(true);
    setTried(await backtestPolicies(client, { policies: [draftOf(fields)] }));
  });
  // Of the button that was pressed last.
  const reader = useRef<(() => PolicyFields) | undefined>(undefined);
  /** Returns the policy as it is in the form, for a trial. */
  const draftOf = (fields: PolicyFields) => ({
    ...readPolicy(fields),
    // A stored policy is replaced by its name, which the draft may change.
    ...(data?.name !== undefined && { name: data.name }),
  });
  const failure = isTrial ? backtest.error : save.error;
  const errors = useMemo(() => fieldErrors(failure, policyField), [failure]);
  return (
    <>
      <WayBack place="policies" title="Policies" />
      <h1>{isNew ? 'New policy' : (data?.name ?? id)}</h1>
      <Problem error={error} onRetry={reload} />
      {data?.status === 'archived' && (
        <p class="empty">This policy is archived: it no longer applies and cannot be changed.</p>
      )}
      {(isNew || data !== undefined) && (
        <PolicyForm
          policy={data}
          tool={tool}
          isReadOnly={data?.status === 'archived' || !may(identity, 'manage')}
          isBusy={save.isBusy}
          errors={errors}
          reader={reader}
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
        {tried !== undefined && <BacktestReport result={tried} />}
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
  'rate.windowSeconds': 'rateWindowSeconds',
  'rate.per': 'ratePer',
  approval: 'requiredApprovers',
  'approval.timeoutSeconds': 'timeoutSeconds',
  'approval.onTimeout': 'onTimeout',
  'approval.requiredApprovers': 'requiredApprovers',
  'approval.approverKeys': 'approverKeys',
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
  const own = path.replace(/^policies\.0\./, '').replace(/\.\d+$/, '');
  return Object.hasOwn(fields, own) ? fields[own] : undefined;
}
