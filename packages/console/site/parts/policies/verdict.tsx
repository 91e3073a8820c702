import type { CheckResult } from '@actlog/client';
import { PolicyLink } from './policy-link.tsx';

/** `true` for the id of a policy that is not saved. */
function isDraft(policyId: string): boolean {
  return policyId.startsWith('draft_');
}

/** Decision about a tried action, with the policies that matched it. */
export function Verdict({
  result: { decision, decidedBy, matched = [], moreMatched },
}: {
  result: CheckResult;
}) {
  return (
    <>
      <p>
        Decision: <span class={`badge effect-${decision}`}>{decision?.replace('_', ' ')}</span>
        {matched.length === 0 && ' No policy matches.'}
      </p>
      <ul>
        {matched.map(({ policyId, policyName, effect, mode, why, message }) => (
          <li key={policyId}>
            {isDraft(policyId) ? 'The policy in the form' : <PolicyLink id={policyId} name={policyName} />}
            {policyId === decidedBy && <strong> decides</strong>}: {effect.replace('_', ' ')}
            {mode === 'log_only' && ' (log only)'}: {why} {message && <q>{message}</q>}
          </li>
        ))}
      </ul>
      {typeof moreMatched === 'number' && moreMatched > 0 && <p class="faint">{moreMatched} more match.</p>}
    </>
  );
}
