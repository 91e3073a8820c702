import LogOut from 'lucide/dist/esm/icons/log-out.mjs';
import { useConnection } from '../connection.ts';
import { Icon } from '../parts/icon.tsx';

/** The signed-in user, and the way out unless a proxy signs the user in. */
export function Account() {
  const { identity, signOut } = useConnection();
  const { tenant, name, kind, role } = identity;
  return (
    <div class="account">
      {tenant !== undefined && (
        <p>
          {tenant} {kind === 'test' && <span class="badge">test</span>}
          {name !== undefined && (
            <>
              <br />
              <span class="faint">{name}</span> {role !== undefined && <span class="badge">{role}</span>}
            </>
          )}
        </p>
      )}
      {signOut !== undefined && (
        <button type="button" class="quiet" onClick={signOut}>
          <Icon of={LogOut} />
          Sign out
        </button>
      )}
    </div>
  );
}
