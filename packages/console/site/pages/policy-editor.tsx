import { useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { may } from '../identity.ts';
import { PolicyForm } from '../parts/policy-form.tsx';
import { Problem } from '../parts/problem.tsx';
import { WayBack } from '../parts/way-back.tsx';
import { type PolicyFields, policyChanges, readPolicy } from '../policy-draft.ts';
import { href } from '../route.ts';
import { useAction } from '../use-action.ts';
import { useLoaded } from '../use-loaded.ts';
import { replacePlace } from '../use-visits.ts';

/** The id that stands for a policy that is about to be made. */
const newId = 'new';

/** One policy, to read or to change; or a new one. */
export function PolicyEditor({
  id,
  tool,
}: {
  id: string;
  /** What a new policy is about at first. */
  tool: string | undefined;
}) {
  const { client, identity } = useConnection();
  const [news, setNews] = useState('');
  const isNew = id === newId;
  const { data, error, reload } = useLoaded(id, async (signal) =>
    isNew ? undefined : client.policies.get(id, { signal }),
  );
  const save = useAction(async (fields: PolicyFields) => {
    setNews('');
    if (data === undefined) {
      const from = location.hash;
      const { id: made } = await client.policies.create(readPolicy(fields));
      // Who has gone on meanwhile is not drawn back, and who goes back later does not come to an empty form.
      if (location.hash === from) replacePlace(href(['policies', made]));
      return;
    }
    const changes = policyChanges(data, fields);
    if (Object.keys(changes).length === 0) return setNews('Nothing has changed.');
    await client.policies.update(id, changes);
    setNews('Saved. It holds from now on.');
    reload();
  });
  return (
    <>
      <WayBack place="policies" title="Policies" />
      <h1>{isNew ? 'New policy' : (data?.name ?? id)}</h1>
      <Problem error={error} onRetry={reload} />
      {data?.status === 'archived' && (
        <p class="empty">It is archived: it is no longer asked, and stays as it is.</p>
      )}
      {(isNew || data !== undefined) && (
        <PolicyForm
          policy={data}
          tool={tool}
          isReadOnly={data?.status === 'archived' || !may(identity, 'manage')}
          isBusy={save.isBusy}
          onSave={save.run}
        />
      )}
      <Problem error={save.error} />
      <p role="status" class={news && 'news'}>
        {news}
      </p>
    </>
  );
}
