import { now } from '../../clock.ts';
import { roleName } from '../../key-roles.ts';
import type { ApiKey } from '../../keys-api.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { Time } from '../time.tsx';

function hasEnded({ expiresAt }: ApiKey): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= now().getTime();
}

/** A key in the list: its role, its use, and its actions. */
export function KeyItem({
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
