import { auditTargetKinds } from '@actlog/protocol';
import { actionText } from '../../audit/audit-text.ts';
import { useFilterForm } from '../../hooks/use-filter-form.ts';
import { href } from '../../route.ts';
import { submitted } from '../../submitted.ts';
import { Field } from '../field.tsx';
import { FilterSelect } from '../filter-select.tsx';

const kinds = {
  '': 'anything',
  ...Object.fromEntries(auditTargetKinds.map((kind) => [kind, actionText(kind)])),
};

const times = {
  '': 'any time',
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
  '30d': 'last 30 days',
  '90d': 'last 90 days',
};

/** Filters of the audit log, as they are in the address. */
export interface AuditSearch {
  readonly kind: string;
  readonly actor: string;
  readonly target: string;
  readonly since: string;
}

/** Bar of filters of the audit log. Every search is a location of its own. */
export function AuditFilters({ search }: { search: AuditSearch }) {
  const form = useFilterForm({ ...search });
  return (
    <search>
      <form
        ref={form}
        class="filters log-filters"
        onSubmit={submitted((fields) => {
          const given = [...fields].map(([name, value]) => [name, String(value).trim()]);
          location.hash = href(['audit'], Object.fromEntries(given));
        })}
      >
        <FilterSelect label="Changes of" name="kind" options={kinds} />
        <FilterSelect label="When" name="since" options={times} />
        <Field label="By the person or key with the id">
          <input name="actor" placeholder="any" spellcheck={false} autocomplete="off" />
        </Field>
        <Field label="Of the thing with the id">
          <input name="target" placeholder="any" spellcheck={false} autocomplete="off" />
        </Field>
        <p class="buttons">
          <button type="submit">Filter</button>
          {Object.values(search).some(Boolean) && <a href={href(['audit'])}>Show all</a>}
        </p>
      </form>
    </search>
  );
}
