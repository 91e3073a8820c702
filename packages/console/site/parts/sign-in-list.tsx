import { useConnection } from '../connection.ts';
import { useAction } from '../hooks/use-action.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { Problem } from './problem.tsx';
import { Table } from './table.tsx';
import { Time } from './time.tsx';

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
export function SignInList() {
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
