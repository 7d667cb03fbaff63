"""What the rivals on PyTorch do alike with the batches of a case."""

from bag_files import Bags
from bag_peer import BagPeer


class TorchPeer(BagPeer):
    """A rival has `torch` and the method pooled(n): pooled rows of a batch, on the tape."""

    def read_batches(self, folder, batch, dim):
        from_numpy = self.torch.from_numpy
        files = Bags(folder, batch, dim)
        self.folder, self.n = folder, 0
        self.splits = [from_numpy(s.astype("int64")) for s in files.splits]
        self.ids = [from_numpy(i.astype("int64")) for i in files.ids]
        self.weights = [None] * files.count if files.weights is None else [from_numpy(w) for w in files.weights]
        self.gradient = from_numpy(files.gradient)

    def look_up(self, n):
        with self.torch.no_grad():
            self.pooled(n)

    def pooled_values(self):
        return self.pooled(0).detach().numpy()
