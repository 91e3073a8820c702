import type { PolicyDecision } from '@actlog/protocol';
import { href } from '../../route.ts';

/** Name of a policy, with its id on hover, and a link to the policy unless it is built in. */
export function PolicyLink({ id, name }: { id: string; name: string | undefined }) {
  const shown = (
    <bdi class="whole" translate={false} title={id}>
      {name ?? id}
    </bdi>
  );
  return id.startsWith('pol_') ? <a href={href(['policies', id])}>{shown}</a> : shown;
}

/** Policy or approver that decided about an action. */
export function Decider({
  decision: { decidedBy, matched },
}: {
  decision: Pick<PolicyDecision, 'decidedBy' | 'matched'>;
}) {
  if (decidedBy === null) return <span class="faint">no policy</span>;
  const policy = matched.find(({ policyId }) => policyId === decidedBy);
  if (policy) return <PolicyLink id={policy.policyId} name={policy.policyName} />;
  const holding = matched.find(({ effect, mode }) => effect === 'require_approval' && mode === 'enforce');
  return (
    <>
      <span class="whole">{decidedBy}</span>
      {holding && (
        <>
          <span class="faint">, held by</span> <PolicyLink id={holding.policyId} name={holding.policyName} />
        </>
      )}
    </>
  );
}
