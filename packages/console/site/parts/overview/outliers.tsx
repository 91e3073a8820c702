import type { NamedActivity } from '@actlog/protocol';
import { countText, shareText } from '../../count-text.ts';
import { href } from '../../route.ts';
import { PanelTable } from './panel-table.tsx';

/** Agents or tools with the most errors and denials. */
export function Outliers({ kind, rows }: { kind: 'agent' | 'tool'; rows: readonly NamedActivity[] }) {
  const title = kind === 'agent' ? 'Agents that stand out' : 'Tools that stand out';
  const noun = kind === 'agent' ? 'Agent' : 'Tool';
  return (
    <section class="panel" aria-labelledby={`outliers-${kind}`}>
      <h2 id={`outliers-${kind}`}>{title}</h2>
      {rows.length === 0 ? (
        <p class="empty">No tool call in this time.</p>
      ) : (
        <PanelTable
          caption={`${title}: most errors and denials first`}
          columns={[
            { title: noun },
            { title: 'Calls', isNumber: true },
            { title: 'Errors', isNumber: true },
            { title: 'Denials', isNumber: true },
            { title: 'Failed', isNumber: true, importance: 'second' },
          ]}
        >
          {rows.map(({ name, calls, errors, denials }) => (
            <tr key={name}>
              <th scope="row">
                <a class="brief" href={href(['sessions'], { [kind]: name })}>
                  {name}
                </a>
              </th>
              <td class="number">{countText(calls)}</td>
              <td class={`number ${errors > 0 ? 'bad' : 'faint'}`}>{countText(errors)}</td>
              <td class={`number ${denials > 0 ? 'warn' : 'faint'}`}>{countText(denials)}</td>
              <td class="number second faint">{shareText(errors + denials, calls)}</td>
            </tr>
          ))}
        </PanelTable>
      )}
    </section>
  );
}
