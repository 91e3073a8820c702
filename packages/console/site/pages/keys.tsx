import { useState } from 'preact/hooks';
import { now } from '../clock.ts';
import { useConnection } from '../connection.ts';
import { useAction } from '../hooks/use-action.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { managesKeys } from '../identity.ts';
import { type ApiKey, type ApiKeyCreate, type CreatedApiKey, KeysApi, roleName } from '../keys-api.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Choice } from '../parts/field.tsx';
import { KeyForm, Secret } from '../parts/keys/secret.tsx';
import { AdministratorsOnly, Problem } from '../parts/problem.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

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

const overlaps = { '0': 'at once', '1': 'after a day', '7': 'after a week' };

/** List of keys with their actions. */
function KeyList({
  keys,
  isBusy,
  onRotate,
  onRevoke,
}: {
  keys: readonly ApiKey[];
  isBusy: boolean;
  onRotate: (key: ApiKey, overlapDays: number) => void;
  onRevoke: (key: ApiKey) => void;
}) {
  const [overlapDays, setOverlapDays] = useState('1');
  return (
    <>
      <div class="filters">
        <Choice
          label="A rotated key expires"
          name="overlap"
          options={overlaps}
          value={overlapDays}
          onChange={setOverlapDays}
        />
      </div>
      <ol class="log" aria-label="Keys, newest first">
        {keys.map((key) => (
          <KeyItem
            key={key.id}
            apiKey={key}
            isBusy={isBusy}
            onRotate={() => onRotate(key, Number(overlapDays))}
            onRevoke={() => onRevoke(key)}
          />
        ))}
      </ol>
    </>
  );
}

function hasEnded({ expiresAt }: ApiKey): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= now().getTime();
}

/** A key in the list: its role, its use, and its actions. */
function KeyItem({
  apiKey,
  isBusy,
  onRotate,
  onRevoke,
}: {
  apiKey: ApiKey;
  isBusy: boolean;
  onRotate: () => void;
  onRevoke: () => void;
}) {
  const { id, name, kind, scopes, agents, shared, createdAt, createdBy, lastUsedAt, expiresAt, current } =
    apiKey;
  const ended = hasEnded(apiKey);
  return (
    <li id={`key-${id}`} class="delivery" aria-label={name}>
      <div>
        <p class={ended ? 'faint' : ''}>
          <strong translate={false}>{name}</strong> {current && <span class="badge">yours</span>}{' '}
          {kind === 'test' && <span class="badge">test</span>} {ended && <span class="badge bad">ended</span>}
        </p>
        <p>
          {roleName(scopes) ?? 'Custom'} <span class="faint">{scopes.join(', ')}</span>
          {scopes.includes('ingest') && (
            <>
              {' · acts as '}
              {agents === null ? 'any agent' : <code translate={false}>{agents.join(', ')}</code>}
              {shared && ', shared'}
              {apiKey.requiresIdentity && ', verified only'}
            </>
          )}
        </p>
        <p class="faint">
          al_{kind}_{id}… · created <Time at={createdAt} />
          {createdBy != null && (
            <>
              {' by '}
              <bdi translate={false}>{createdBy}</bdi>
            </>
          )}{' '}
          · last used <Time at={lastUsedAt} /> · {ended ? 'ended' : 'expires'} <Time at={expiresAt} />
        </p>
      </div>
      {!ended && (
        <span class="buttons">
          <ConfirmButton
            label="Rotate"
            question={`Rotate ${name}${expiresAt === null ? '' : ' by one that does not end'}`}
            isBusy={isBusy}
            onConfirm={onRotate}
          />
          <ConfirmButton
            label="Revoke"
            question={`Revoke ${name}${current ? ', and sign out' : ''}`}
            isBusy={isBusy}
            onConfirm={onRevoke}
          />
        </span>
      )}
    </li>
  );
}

/** A person who is signed in, as the reference server returns it. */
interface SignIn {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly expiresAt: string;
  /** `true` for the sign-in of this browser. */
  readonly current: boolean;
}

const columns = ['Name', 'Role', 'Signed in', 'Last used', 'Ends at the latest', 'Actions'];

/** The people who are signed in, whom an admin can sign out. Renders nothing if there are none. */
function SignInList() {
  const { client, signOut } = useConnection();
  const { data, error, reload } = useLoaded(
    'sign-ins',
    (signal) =>
      client.request<{ items: readonly SignIn[]; hasMore: boolean }>('GET', '/console/api/sign-ins', {
        signal,
      }),
    { everyMs: 10_000 },
  );
  const end = useAction(async ({ id, current }: SignIn) => {
    if (current && signOut) return signOut();
    await client.request('DELETE', `/console/api/sign-ins/${encodeURIComponent(id)}`);
    reload();
  });
  if (data !== undefined && data.items.length === 0) return <Problem error={error} />;
  return (
    <section aria-labelledby="sign-ins">
      <h2 id="sign-ins">People who are signed in</h2>
      <Problem error={error ?? end.error} />
      {data !== undefined && (
        <Table caption="Sign-ins, newest first" columns={columns}>
          {data.items.map((signIn) => (
            <tr key={signIn.id}>
              <th scope="row">
                <bdi class="whole" translate={false}>
                  {signIn.name}
                </bdi>{' '}
                {signIn.current && <span class="badge">you</span>}
              </th>
              <td>{signIn.role}</td>
              <td>
                <Time at={signIn.createdAt} />
              </td>
              <td>
                <Time at={signIn.lastUsedAt} />
              </td>
              <td>
                <Time at={signIn.expiresAt} />
              </td>
              <td>
                <ConfirmButton
                  label="End"
                  question={`Sign ${signIn.name} out`}
                  isBusy={end.isBusy}
                  onConfirm={() => end.run(signIn)}
                />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {data?.hasMore && <p class="faint">Only the newest sign-ins are listed.</p>}
    </section>
  );
}
