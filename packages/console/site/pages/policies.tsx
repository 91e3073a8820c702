import type { Policy } from '@actlog/client';
import { useConnection } from '../connection.ts';
import { useAction } from '../hooks/use-action.ts';
import { useList } from '../hooks/use-list.ts';
import { may } from '../identity.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { PolicyTrial } from '../parts/policies/policy-trial.tsx';
import { Problem } from '../parts/problem.tsx';
import { StatusTabs } from '../parts/status-tabs.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { href } from '../route.ts';

const statuses = ['active', 'archived'] as const;

const effects = { allow: 'allow', deny: 'deny', require_approval: 'require approval' };

/** Summarizes the actions that a policy applies to, in one line. */
function about({ match = {}, condition, rate }: Policy): string {
  const lists = Object.entries(match).flatMap(([what, globs]) =>
    globs?.length ? [`${what} ${globs.join(', ')}`] : [],
  );
  return [
    lists.join(' · ') || 'every action',
    condition && 'with a condition',
    rate && `after ${rate.max} actions in ${lengthText(rate.windowSeconds)}, for each ${rate.per}`,
  ]
    .filter(Boolean)
    .join(', ');
}

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
          <a class="button" href={href(['policies', 'new'])}>
            New policy
          </a>
        )}
      </div>
      <Problem error={archive.error} />
      <ListTable
        shown={shown}
        caption={`Policies, ${status}`}
        columns={['Policy', 'Effect', 'Applies to', 'Priority', 'Changed', 'Actions']}
        empty={
          status === 'active' ? 'No policy is active, so every action is allowed.' : 'No policy was archived.'
        }
        row={(policy) => (
          <tr key={policy.id}>
            <th scope="row">
              <a class="whole" href={href(['policies', policy.id])}>
                {policy.name ?? policy.id}
              </a>
            </th>
            <td>
              <span class={`badge effect-${policy.effect}`}>{policy.effect && effects[policy.effect]}</span>{' '}
              {policy.mode === 'log_only' && <span class="badge">log only</span>}
            </td>
            <td class="faint">
              <span class="whole">{about(policy)}</span>
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

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** Returns a length of time in the largest unit that fits exactly: "1 hour", "90 seconds". */
export function lengthText(seconds: number): string {
  const [unit, size] = units.find(([, length]) => seconds % length === 0) ?? ['second', 1];
  const count = seconds / size;
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`;
}
