import { expect, test } from 'vitest';
import { withMethods } from './with-methods.ts';

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

test('only the named methods change; private fields, getters and the class are as they were', () => {
  const tool = new Tool();
  const view = withMethods(tool, { run: () => 'other' });
  expect(view.run()).toBe('other');
  expect(tool.run()).toBe('own');
  expect(view.secret()).toBe('kept');
  expect(view.label).toBe('search kept');
  expect(view).toBeInstanceOf(Tool);
  expect(Object.keys(view)).toEqual(Object.keys(tool));
});

test('what is set later is there on both', () => {
  const tool: { run(): string; extra?: number } = { run: () => 'own' };
  const view = withMethods(tool, { run: () => 'other' });
  view.extra = 1;
  expect(tool.extra).toBe(1);
  tool.extra = 2;
  expect(view.extra).toBe(2);
});

test('a name that every object inherits is not taken for one of the methods', () => {
  const tool = new Tool();
  expect(withMethods(tool, {}).valueOf()).toBe(tool);
  expect(withMethods(new Tool(), { toString: () => 'other' }).toString()).toBe('other');
});

test('by default every function has the object as its this', () => {
  const tool = new Tool();
  const view = withMethods(tool, {});
  const { secret } = view;
  expect(view.callback.call('elsewhere')).toBe(tool);
  expect(secret()).toBe('kept');
  expect(view.schema).not.toBe(schema);
});

test('with class-methods the own functions and the class are the very same values', () => {
  const tool = new Tool();
  const view = withMethods(tool, {}, 'class-methods');
  const { secret } = view;
  expect(view.schema).toBe(schema);
  expect(view.callback.call('elsewhere')).toBe('elsewhere');
  expect(view.constructor).toBe(Tool);
  expect(secret()).toBe('kept');
});

test.each(['every-function', 'class-methods'] as const)(
  'the methods of a frozen object change as those of any other (%s)',
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

test('where one method can never change, what is set later is still there on both', () => {
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
