import { countTexts, originWords, type PathOrigin } from '../../argument-origins.ts';
import { ClockTime } from '../time.tsx';

function Origin({ origin }: { origin: PathOrigin }) {
  const { path, kind, toolName, calledAt } = origin;
  const { text, isReturned } = originWords(origin);
  return (
    <li class={kind === 'text' ? 'warn' : undefined}>
      <code>{path}</code>: {text}
      {isReturned && (
        <>
          {' '}
          {toolName === undefined ? 'a tool' : <code>{toolName}</code>} returned
          {calledAt !== undefined && (
            <>
              {' '}
              <ClockTime moment={calledAt} />
            </>
          )}
        </>
      )}
    </li>
  );
}

function List({ origins }: { origins: readonly PathOrigin[] }) {
  return (
    <ul class="origins" translate={false}>
      {origins.map((origin) => (
        <Origin key={origin.path} origin={origin} />
      ))}
    </ul>
  );
}

/** List of where the arguments of a call came from. */
export function OriginList({
  origins,
  most = Number.POSITIVE_INFINITY,
}: {
  origins: readonly PathOrigin[];
  /** Maximum number of origins to show at once; the user opens the rest. */
  most?: number;
}) {
  const rest = origins.slice(most);
  const texts = countTexts(rest);
  return (
    <>
      <List origins={rest.length === 0 ? origins : origins.slice(0, most)} />
      {rest.length > 0 && (
        <details>
          <summary>
            {rest.length} more{texts > 0 && `, ${texts} from a tool’s text`}
          </summary>
          <List origins={rest} />
        </details>
      )}
    </>
  );
}
