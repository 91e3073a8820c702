import type { PolicyCreate } from '@actlog/client';
import type { PolicyPack } from 'policy-packs';
import { useEffect, useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useAction } from '../../hooks/use-action.ts';
import { href } from '../../route.ts';
import { Loading } from '../empty-state.tsx';
import { Problem } from '../problem.tsx';
import { PolicySentence } from './policy-form.tsx';

/** Fold with the packs of policies to start from. Their script is loaded when it is opened. */
export function PolicyPacks({
  isOpen,
  onUse,
}: {
  isOpen: boolean;
  /** Fills the form with a policy. */
  onUse: (policy: PolicyCreate) => void;
}) {
  const [isRead, setRead] = useState(isOpen);
  const [packs, setPacks] = useState<readonly PolicyPack[]>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (!isRead || packs) return;
    import('policy-packs').then(
      (loaded) => setPacks(loaded.packs),
      () => setError(new Error('The packs cannot be loaded.')),
    );
  }, [isRead]);
  return (
    <details
      class="fold packs"
      open={isOpen}
      onToggle={({ currentTarget }) => currentTarget.open && setRead(true)}
    >
      <summary>Start from a pack</summary>
      <Problem error={error} />
      {isRead && !packs && error === undefined && <Loading rows={7} />}
      {packs?.map((pack) => (
        <Pack key={pack.name} pack={pack} onUse={onUse} />
      ))}
    </details>
  );
}

function Pack({
  pack: { name, title, explanation, policies },
  onUse,
}: {
  pack: PolicyPack;
  onUse: (policy: PolicyCreate) => void;
}) {
  const { client } = useConnection();
  const [added, setAdded] = useState<string>();
  const add = useAction(async () => {
    setAdded(undefined);
    const known = new Set<string | undefined>();
    for await (const policy of client.policies.list({ status: 'active', limit: 100 })) known.add(policy.name);
    const missing = policies.filter((policy) => !known.has(policy.name));
    for (const policy of missing) await client.policies.create({ ...policy, mode: 'log_only' });
    const there = policies.length - missing.length;
    setAdded(
      `${missing.length} added, to log only.${there > 0 ? ` ${there} ${there === 1 ? 'was' : 'were'} there already.` : ''}`,
    );
  });
  return (
    <details class="fold pack">
      <summary>
        <strong>{name}</strong> <span class="faint">{title}</span>
      </summary>
      {explanation && <p class="faint">{explanation}</p>}
      <ul>
        {policies.map((policy) => (
          <li key={policy.name}>
            <span>
              <strong>{policy.name}</strong>
              <br />
              <PolicySentence policy={policy} />
            </span>
            <button
              type="button"
              class="quiet"
              aria-label={`Use ${policy.name}`}
              onClick={({ currentTarget }) => {
                const fold = currentTarget.closest<HTMLDetailsElement>('.packs');
                if (fold) fold.open = false;
                onUse(policy);
              }}
            >
              Use
            </button>
          </li>
        ))}
      </ul>
      <Problem error={add.error} />
      <p class="buttons">
        <button type="button" aria-disabled={add.isBusy} onClick={() => add.run()}>
          Add all {policies.length} to log only
        </button>
        <span role="status">
          {added} {added && <a href={href(['policies'])}>See the policies</a>}
        </span>
      </p>
    </details>
  );
}
