import { useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { useAction } from '../hooks/use-action.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { managesKeys } from '../identity.ts';
import { type ApiKey, type ApiKeyCreate, type CreatedApiKey, KeysApi } from '../keys-api.ts';
import { AdministratorsOnly } from '../parts/administrators-only.tsx';
import { KeyForm } from '../parts/keys/key-form.tsx';
import { KeyList } from '../parts/keys/key-list.tsx';
import { Secret } from '../parts/keys/secret.tsx';
import { Problem } from '../parts/problem.tsx';
import { SignInList } from '../parts/sign-in-list.tsx';

/** Page with the tenant's keys: create, rotate and revoke them. */
export function Keys() {
  const { identity } = useConnection();
  return (
    <>
      <h1>Keys</h1>
      {managesKeys(identity) ? <ManagedKeys /> : <AdministratorsOnly what="Keys" />}
    </>
  );
}

function ManagedKeys() {
  const { client, signOut } = useConnection();
  const keys = new KeysApi(client);
  const [created, setCreated] = useState<CreatedApiKey>();
  const { data, error, reload } = useLoaded('keys', (signal) => keys.list(signal), { everyMs: 10_000 });
  const change = useAction(async (act: () => PromiseLike<CreatedApiKey | undefined>) => {
    const made = await act();
    if (made !== undefined) setCreated(made);
    reload();
  });
  return (
    <>
      {created !== undefined && (
        <Secret
          label={`API key “${created.key.name}”`}
          value={created.apiKey}
          onDone={() => setCreated(undefined)}
        />
      )}
      <Problem error={error ?? change.error} />
      {data !== undefined && (
        <KeyList
          keys={data.items}
          isBusy={change.isBusy}
          onRotate={({ id }: ApiKey, overlapDays: number) => change.run(() => keys.rotate(id, overlapDays))}
          onRevoke={({ id, current }: ApiKey) =>
            change.run(async () => {
              await keys.revoke(id);
              if (current) signOut?.();
              return undefined;
            })
          }
        />
      )}
      {data?.hasMore && (
        <p class="faint">
          Only the newest keys are listed. <code>npx actlog keys list</code> lists all.
        </p>
      )}
      <KeyForm
        isBusy={change.isBusy}
        onCreate={(body: ApiKeyCreate) => change.run(() => keys.create(body))}
      />
      <SignInList />
    </>
  );
}
