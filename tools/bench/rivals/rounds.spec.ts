import { takeTurns } from './rounds.js';

describe('turns of the bench with rivals', () => {
  it('begin when engines have compiled what a fast step runs, and are short', async () => {
    const asked: number[] = [];
    const fast = { name: 'fast', run: (steps: number) => Promise.resolve(asked.push(steps) && 0.1) };
    await takeTurns([fast], { rounds: 2, turnMs: 20 });
    const [turns, warmUps] = [asked.slice(-4), asked.slice(0, -4)];
    expect(warmUps.reduce((sum, steps) => sum + steps, 0)).toBeGreaterThan(3000);
    expect(turns).toEqual([1, 200, 1, 200]);
  });

  it('warm a slow peer up with few steps', async () => {
    const asked: number[] = [];
    const slow = { name: 'slow', run: (steps: number) => Promise.resolve(asked.push(steps) && 300) };
    await takeTurns([slow], { rounds: 1, turnMs: 20 });
    expect(asked).toEqual([3, 2, 1, 1]);
  });

  it('are of three steps at least where a step is shorter than a turn', async () => {
    const asked: number[] = [];
    const peer = { name: 'one', run: (steps: number) => Promise.resolve(asked.push(steps) && 15) };
    await takeTurns([peer], { rounds: 1, turnMs: 20 });
    expect(asked.slice(-2)).toEqual([1, 3]);
  });
});
