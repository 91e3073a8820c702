import { ActlogError, APIError } from '@actlog/client';

/** A finding of the service about one field. */
interface Finding {
  readonly path: string;
  readonly message: string;
}

function findings(error: unknown): Finding[] {
  const details = error instanceof APIError ? error.details : [];
  return details.filter(
    (detail): detail is Finding =>
      typeof detail === 'object' && detail !== null && 'path' in detail && 'message' in detail,
  );
}

/** What went wrong, in the service's own words, and by what its operator can find it. Nothing where nothing did. */
export function Problem({ error }: { error: unknown }) {
  if (error === undefined) return null;
  const found = findings(error);
  const requestId = error instanceof ActlogError ? error.requestId : undefined;
  return (
    <div class="problem" role="alert">
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {found.length > 0 && (
        <ul>
          {found.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {requestId !== undefined && <p class="faint">Request {requestId}</p>}
    </div>
  );
}
