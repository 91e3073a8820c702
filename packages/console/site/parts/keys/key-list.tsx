import { useState } from 'preact/hooks';
import type { ApiKey } from '../../keys-api.ts';
import { Choice } from '../choice.tsx';
import { KeyItem } from './key-item.tsx';

const overlaps = { '0': 'at once', '1': 'after a day', '7': 'after a week' };

/** List of keys with their actions. */
export function KeyList({
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
