"""What rivals do alike with the batches of a case."""

from bag_files import write
from protocol import timed


class BagPeer:
    """
    Steps over `ids`, a list of batches, from the first on. A rival has `optimizer` (None: lookups alone), `folder` for
    its results, and the methods look_up(n), train(n), pooled_values() (of the first batch) and table_out().
    """

    def step(self):
        n = self.n = (self.n + 1) % len(self.ids)
        if self.optimizer is None:
            self.look_up(n)
        else:
            self.train(n)

    def run(self, steps):
        return timed(self.step, steps)

    def outputs(self, steps):
        """Pooled rows of the first batch, then the table after steps over the batches from the first on."""
        pooled = self.pooled_values()
        self.n = -1
        for _ in range(steps):
            self.step()
        write(self.folder, pooled=pooled, table_out=self.table_out())
