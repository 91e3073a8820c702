import { useConnection } from '../connection.ts';
import { useAction } from '../hooks/use-action.ts';
import { useList } from '../hooks/use-list.ts';
import { may } from '../identity.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { PolicySentence } from '../parts/policies/policy-form.tsx';
import { PolicyTrial } from '../parts/policies/policy-trial.tsx';
import { Problem } from '../parts/problem.tsx';
import { StatusTabs } from '../parts/status-tabs.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { href } from '../route.ts';

const statuses = ['active', 'archived'] as const;

const effects = { allow: 'allow', deny: 'deny', require_approval: 'ask a person' };

/** Page with the policies and a form to test them. */
export function Policies({ query }: { query: URLSearchParams }) {
  const { client, identity } = useConnection();
  const status = statuses.find((known) => known === query.get('status')) ?? 'active';
  const shown = useList(
    `policies ${status}`,
    (page, signal) => client.policies.list({ status, ...page }, { signal }),
    { everyMs: 10_000, nameOf: ({ id }) => id },
  );
  const archive = useAction(async (id: string) => {
    await client.policies.archive(id);
    shown.reload();
  });
  const mayManage = may(identity, 'manage');
  return (
    <>
      <h1>Policies</h1>
      <div class="filters">
        <StatusTabs place="policies" statuses={statuses} current={status} />
        {mayManage && (
          <span class="buttons leads-on">
            <a class="button quiet" href={href(['policies', 'new'], { packs: 'open' })}>
              Start from a pack
            </a>
            <a class="button" href={href(['policies', 'new'])}>
              New policy
            </a>
          </span>
        )}
      </div>
      <Problem error={archive.error} />
      <ListTable
        shown={shown}
        caption={`Policies, ${status}`}
        columns={['Policy', 'Effect', 'Priority', 'Changed', 'Actions']}
        empty={
          status === 'active' ? 'No policy is active, so every action is allowed.' : 'No policy was archived.'
        }
        row={(policy) => (
          <tr key={policy.id}>
            <th scope="row">
              <a class="whole" href={href(['policies', policy.id])}>
                {policy.name ?? policy.id}
              </a>
              <br />
              <PolicySentence policy={policy} />
            </th>
            <td>
              <span class={`badge effect-${policy.effect}`}>{policy.effect && effects[policy.effect]}</span>{' '}
              {policy.mode === 'log_only' && <span class="badge">log only</span>}
            </td>
            <td class="number">{policy.priority}</td>
            <td>
              <Time at={policy.updatedAt} />
            </td>
            <td>
              {mayManage && policy.status !== 'archived' && (
                <ConfirmButton
                  label="Archive"
                  question="Archive permanently"
                  isBusy={archive.isBusy}
                  onConfirm={() => archive.run(policy.id)}
                />
              )}
            </td>
          </tr>
        )}
      />
      {may(identity, 'ingest') && (
        <PolicyTrial
          title="Try an action"
          button="Try"
          onTry={(check) => client.policies.check(check, { dryRun: true })}
        />
      )}
    </>
  );
}
