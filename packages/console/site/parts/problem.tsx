import { ActlogError, APIConnectionError, APIError } from '@actlog/client';

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

/** What a person has to know where no answer came; undefined where one did. */
function unanswered(error: unknown): string | undefined {
  if (!(error instanceof APIConnectionError)) return undefined;
  if (error.method === 'GET') return 'The service cannot be reached.';
  return 'The service did not answer: what you asked for may have been done or not.';
}

/** What went wrong, in the service's own words, and by what its operator can find it. Nothing where nothing did. */
export function Problem({ error }: { error: unknown }) {
  if (error === undefined) return null;
  const found = findings(error);
  const requestId = error instanceof ActlogError ? error.requestId : undefined;
  const message = error instanceof Error ? error.message : String(error);
  const silence = unanswered(error);
  return (
    <div class="problem" role="alert">
      <p>{silence ?? message}</p>
      {silence !== undefined && <p class="faint">{message}</p>}
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
