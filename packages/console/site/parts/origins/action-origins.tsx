import { readOrigins } from '../../argument-origins.ts';
import { OriginList } from './origin-list.tsx';

/** Maximum number of origins that are shown at once. */
const most = 8;

/** Section of a held action with the origins of its arguments; nothing if it has none. */
export function ActionOrigins({ origins }: { origins: unknown }) {
  const read = readOrigins(origins);
  if (read === undefined) return null;
  return (
    <>
      <h4>Where the arguments came from</h4>
      <OriginList origins={read} most={most} />
    </>
  );
}
