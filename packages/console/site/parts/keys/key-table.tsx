import { useState } from 'preact/hooks';
import { now } from '../../clock.ts';
import { roleName } from '../../key-roles.ts';
import type { ApiKey } from '../../keys-api.ts';
import { Choice } from '../choice.tsx';
import { ConfirmButton } from '../confirm-button.tsx';
import { Table } from '../table.tsx';
import { Time } from '../time.tsx';

const overlaps = { '0': 'at once', '1': 'after a day', '7': 'after a week' };

const columns = ['Name', 'Key', 'Role', 'Created', 'Last used', 'Expires', 'Actions'];

function hasEnded({ expiresAt }: ApiKey): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= now().getTime();
}

/** Table of keys with their actions. */
export function KeyTable({
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
      <Table caption="Keys, newest first" columns={columns} isCards>
        {keys.map((key) => (
          <tr key={key.id} class={hasEnded(key) ? 'ended' : ''}>
            <th scope="row">
              <span class="whole">{key.name}</span> {key.current && <span class="badge">yours</span>}
            </th>
            <td class="faint">
              al_{key.kind}_{key.id}…
            </td>
            <td>
              {roleName(key.scopes) ?? 'Custom'} <span class="faint">{key.scopes.join(', ')}</span>
            </td>
            <td>
              <Time at={key.createdAt} />
              {key.createdBy != null && (
                <>
                  {' '}
                  <span class="faint">
                    by <bdi translate={false}>{key.createdBy}</bdi>
                  </span>
                </>
              )}
            </td>
            <td>
              <Time at={key.lastUsedAt} />
            </td>
            <td>
              <Time at={key.expiresAt} />
            </td>
            <td>
              {!hasEnded(key) && (
                <span class="buttons">
                  <ConfirmButton
                    label="Rotate"
                    question={`Rotate ${key.name}${key.expiresAt === null ? '' : ' by one that does not end'}`}
                    isBusy={isBusy}
                    onConfirm={() => onRotate(key, Number(overlapDays))}
                  />
                  <ConfirmButton
                    label="Revoke"
                    question={`Revoke ${key.name}${key.current ? ', and sign out' : ''}`}
                    isBusy={isBusy}
                    onConfirm={() => onRevoke(key)}
                  />
                </span>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}
