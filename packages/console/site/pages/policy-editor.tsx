import { useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { may } from '../identity.ts';
import { PolicyForm } from '../parts/policy-form.tsx';
import { Problem } from '../parts/problem.tsx';
import type { PolicyDraft } from '../policy-draft.ts';
import { href } from '../route.ts';
import { useAction } from '../use-action.ts';
import { useLoaded } from '../use-loaded.ts';

/** The id that stands for a policy that is about to be made. */
const newId = 'new';

/** One policy, to read or to change; or a new one. */
export function PolicyEditor({ id }: { id: string }) {
  const { client, identity } = useConnection();
  const [news, setNews] = useState('');
  const isNew = id === newId;
  const { data, error, reload } = useLoaded(id, async (signal) =>
    isNew ? undefined : client.policies.get(id, { signal }),
  );
  const save = useAction(async (draft: PolicyDraft) => {
    setNews('');
    if (isNew) {
      const { id: made } = await client.policies.create(draft);
      location.hash = href(['policies', made]);
    } else {
      await client.policies.update(id, draft);
      setNews('Saved. It holds from now on.');
      reload();
    }
  });
  return (
    <>
      <p class="faint">
        <a href={href(['policies'])}>Policies</a>
      </p>
      <h1>{isNew ? 'New policy' : (data?.name ?? id)}</h1>
      <Problem error={error} />
      {data?.status === 'archived' && (
        <p class="empty">It is archived: it is no longer asked, and stays as it is.</p>
      )}
      {(isNew || data !== undefined) && (
        <PolicyForm
          key={data?.version}
          policy={data}
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
