import type { ActivityBucket } from '@actlog/protocol';
import { useState } from 'preact/hooks';
import { bucketTime } from '../../bucket-time.ts';
import { countText } from '../../count-text.ts';
import type { OverviewSpan } from '../../overview-span.ts';
import { lazyPage } from '../lazy-page.tsx';
import { Table } from '../table.tsx';
import type { ChartSeries } from './bar-chart.tsx';

// The largest script of the first page: loaded once the counts are shown.
const BarChart = lazyPage(async () => (await import('./bar-chart.tsx')).BarChart, <div class="plot" />);

/** A chart with its heading, a legend with the counts, and the same data as a table. */
export function ChartFigure({
  title,
  buckets,
  series,
  span,
}: {
  title: string;
  buckets: readonly ActivityBucket[];
  series: readonly ChartSeries[];
  span: OverviewSpan;
}) {
  const [pointed, setPointed] = useState<number>();
  const [isOpen, setIsOpen] = useState(false);
  const bucket = pointed === undefined ? undefined : buckets[pointed];
  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        <span class="faint" aria-hidden="true">
          {bucket ? bucketTime(bucket.at, span.interval) : `last ${span.label}`}
        </span>
      </figcaption>
      <ul class="legend">
        {series.map(({ label, color, value, href }) => {
          const shown = bucket ? [bucket] : buckets;
          const count = shown.reduce((sum, one) => sum + value(one), 0);
          return (
            <li key={label}>
              <span class={`swatch ${color}`} aria-hidden="true" />
              {href === undefined ? label : <a href={href}>{label}</a>}{' '}
              <b class="number">{countText(count)}</b>
            </li>
          );
        })}
      </ul>
      {/* Colors of the canvas, which has no styles of its own. */}
      <span class="swatch axis" hidden />
      <span class="swatch grid" hidden />
      <BarChart buckets={buckets} series={series} span={span} onPoint={setPointed} />
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>
          As a table<span class="hidden">: {title}</span>
        </summary>
        {isOpen && (
          <Table
            caption={`${title}, last ${span.label}`}
            columns={['Time', ...series.map(({ label }) => label)]}
          >
            {buckets.map((one) => (
              <tr key={one.at}>
                <th scope="row">{bucketTime(one.at, span.interval)}</th>
                {series.map(({ label, value }) => (
                  <td key={label} class="number">
                    {countText(value(one))}
                  </td>
                ))}
              </tr>
            ))}
          </Table>
        )}
      </details>
    </figure>
  );
}
