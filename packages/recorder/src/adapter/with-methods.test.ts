import { expect, test } from 'vitest';
import { withMethods } from './target-hooks.ts';

const schema = Object.assign(() => 'valid', { describe: 'a schema that is a function' });

class Tool {
  readonly #secret = 'kept';
  readonly name = 'search';
  readonly schema = schema;
  readonly callback = function (this: unknown): unknown {
    return this;
  };

  get label(): string {
    return `${this.name} ${this.#secret}`;
  }

  secret(): string {
    return this.#secret;
  }

  run(): string {
    return 'own';
  }
}

test('replaces only the named methods; private fields, getters and the class are unchanged', () => {
  const tool = new Tool();
  const view = withMethods(tool, { run: () => 'other' });
  expect(view.run()).toBe('other');
  expect(tool.run()).toBe('own');
  expect(view.secret()).toBe('kept');
  expect(view.label).toBe('search kept');
  expect(view).toBeInstanceOf(Tool);
  expect(Object.keys(view)).toEqual(Object.keys(tool));
});

test('shares properties set later', () => {
  const tool: { run(): string; extra?: number } = { run: () => 'own' };
  const view = withMethods(tool, { run: () => 'other' });
  view.extra = 1;
  expect(tool.extra).toBe(1);
  tool.extra = 2;
  expect(view.extra).toBe(2);
});

test('does not treat inherited names as methods', () => {
  const tool = new Tool();
  expect(withMethods(tool, {}).valueOf()).toBe(tool);
  expect(withMethods(new Tool(), { toString: () => 'other' }).toString()).toBe('other');
});

test('binds every function to the object by default', () => {
  const tool = new Tool();
  const view = withMethods(tool, {});
  const { secret } = view;
  expect(view.callback.call('elsewhere')).toBe(tool);
  expect(secret()).toBe('kept');
  expect(view.schema).not.toBe(schema);
});

test('keeps own functions and the class identical with class-methods', () => {
  const tool = new Tool();
  const view = withMethods(tool, {}, 'class-methods');
  const { secret } = view;
  expect(view.schema).toBe(schema);
  expect(view.callback.call('elsewhere')).toBe('elsewhere');
  expect(view.constructor).toBe(Tool);
  expect(secret()).toBe('kept');
});

test.each(['every-function', 'class-methods'] as const)(
  'replaces methods of a frozen object (%s)',
  (bound) => {
    class Frozen extends Tool {
      override readonly run = () => 'frozen';
    }
    const tool = Object.freeze(new Frozen());
    const view = withMethods(tool, { run: () => 'other' }, bound);
    expect(view.run()).toBe('other');
    expect({ ...view }.run()).toBe('other');
    expect(tool.run()).toBe('frozen');
    expect(view.secret()).toBe('kept');
    expect(view.label).toBe('search kept');
    expect(view.schema === schema).toBe(bound === 'class-methods');
    expect(view.callback.call('elsewhere')).toBe(bound === 'class-methods' ? 'elsewhere' : tool);
    expect(view).toBeInstanceOf(Frozen);
    expect(Object.keys(view)).toEqual(Object.keys(tool));
    expect('run' in view).toBe(true);
    expect(Reflect.set(view, 'name', 'other')).toBe(false);
    expect(Reflect.deleteProperty(view, 'name')).toBe(false);
  },
);

test('shares properties set later if a method is read-only', () => {
  const tool: { run(): string; extra?: number } = Object.defineProperty({ run: () => 'own' }, 'run', {
    writable: false,
    configurable: false,
  });
  const view = withMethods(tool, { run: () => 'other' });
  expect(view.run()).toBe('other');
  view.extra = 1;
  expect(tool.extra).toBe(1);
  tool.extra = 2;
  expect(view.extra).toBe(2);
  expect(Object.keys(view)).toEqual(['run', 'extra']);
  delete view.extra;
  expect('extra' in tool).toBe(false);
});
