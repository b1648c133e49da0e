import { createIntake } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import {
  chosenId,
  folderOf,
  helpAddress,
  withoutHelp,
} from '../../../packages/dashboard/page/data/address.ts';

describe('addresses', () => {
  it('are below the page, with and without a slash at its end', () => {
    expect(['/', '/backpressure', '/backpressure/', '/a/b'].map(folderOf)).toEqual([
      '/',
      '/backpressure/',
      '/backpressure/',
      '/a/b/',
    ]);
  });

  it('name a source, or none when they were cut off', () => {
    expect(['', '#intake%2Fa%20b', '#%', '#intake/%E0%A4'].map(chosenId)).toEqual(['', 'intake/a b', '', '']);
  });

  it('of help lead to the web, never to a file or a script', () => {
    const docs = 'https://github.com/webhook-backpressure/webhook-backpressure/blob/main/docs/';
    expect(helpAddress('https://ops.example/run#book', 'X')).toBe('https://ops.example/run#book');
    expect(helpAddress('file:///srv/docs/errors.md#err_wbp_shed', 'ERR_WBP_SHED')).toBe(
      `${docs}errors.md#err_wbp_shed`,
    );
    expect(helpAddress('docs/alarms.md#wbp_alarm_stalled', 'X')).toBe(`${docs}alarms.md#wbp_alarm_stalled`);
    expect(helpAddress('javascript:alert(1)', 'ERR_WBP_SHED')).toBe(`${docs}errors.md#err_wbp_shed`);
    expect(helpAddress(undefined, 'ERR_WBP_SHED')).toBe(`${docs}errors.md#err_wbp_shed`);
  });

  it('of help are removed from the end of a message', () => {
    let message = '';
    try {
      createIntake({ capacity: 0 });
    } catch (error) {
      ({ message } = error as Error);
    }
    expect(message).toContain('(ERR_WBP_CAPACITY, see ');
    expect(withoutHelp(message)).toBe('capacity must be an integer of at least 1, but was 0.');
  });
});
