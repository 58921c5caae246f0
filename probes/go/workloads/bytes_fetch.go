package workloads

import (
	"bufio"
	"io"
	"os"
	"syscall"
)

// fetch opens a source, hands what comes to see, and closes it.
type fetch func(from *source, chunk int, see func(chunk []byte)) error

// slices is a way whose bytes come in slices.
func slices(f fetch, m manner[look]) way {
	return func(mode string, counter *byteCount) pass {
		look := m.of(mode, counter)
		return func(from *source, chunk int) (uint64, error) {
			sum := start(mode)
			err := f(from, chunk, func(chunk []byte) { sum = look(sum, chunk) })
			return sum, err
		}
	}
}

// readFile has all bytes of a file in one slice.
func readFile(from *source, _ int, see func([]byte)) error {
	data, err := os.ReadFile(from.path)
	see(data)
	return err
}

// readAll has all bytes of a reader in one slice.
func readAll(from *source, _ int, see func([]byte)) error {
	reader, err := from.open()
	if err != nil {
		return err
	}
	defer reader.Close()
	data, err := io.ReadAll(reader)
	see(data)
	return err
}

// readChunks fills one buffer again and again.
func readChunks(from *source, chunk int, see func([]byte)) error {
	reader, err := from.open()
	if err != nil {
		return err
	}
	defer reader.Close()
	buffer := make([]byte, chunk)
	for {
		n, err := reader.Read(buffer)
		see(buffer[:n])
		if err != nil {
			return unlessEOF(err)
		}
	}
}

// mapped has the file in the memory of the process.
func mapped(from *source, _ int, see func([]byte)) error {
	file, err := os.Open(from.path)
	if err != nil {
		return err
	}
	defer file.Close()
	about, err := file.Stat()
	// An empty file cannot be mapped.
	if err != nil || about.Size() == 0 {
		return err
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(about.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	see(data)
	return syscall.Munmap(data)
}

// sent has the chunks from another goroutine. There is room for four, so that it reads while this one looks.
func sent(from *source, chunk int, see func([]byte)) error {
	reader, err := from.open()
	if err != nil {
		return err
	}
	defer reader.Close()
	chunks, failed := make(chan []byte, 4), error(nil)
	go func() {
		defer close(chunks)
		for {
			buffer := make([]byte, chunk)
			n, err := reader.Read(buffer)
			chunks <- buffer[:n]
			if err != nil {
				failed = unlessEOF(err)
				return
			}
		}
	}()
	for chunk := range chunks {
		see(chunk)
	}
	return failed
}

// copied writes into a writer that sums up.
func copied(mode string, counter *byteCount) pass {
	made := byWrite.of(mode, counter)
	return func(from *source, _ int) (uint64, error) {
		reader, err := from.open()
		if err != nil {
			return 0, err
		}
		defer reader.Close()
		writer := made()
		_, err = io.Copy(writer, reader)
		return writer.Sum64(), err
	}
}

// called asks a buffered reader for each byte.
func called(mode string, counter *byteCount) pass {
	look := byReadByte.of(mode, counter)
	return func(from *source, _ int) (uint64, error) {
		reader, err := from.open()
		if err != nil {
			return 0, err
		}
		defer reader.Close()
		return look(start(mode), bufio.NewReader(reader))
	}
}

// iterated ranges over an iterator.
func iterated(mode string, counter *byteCount) pass {
	look := bySeq.of(mode, counter)
	return func(from *source, chunk int) (uint64, error) {
		reader, err := from.open()
		if err != nil {
			return 0, err
		}
		defer reader.Close()
		return look(start(mode), reader, make([]byte, chunk))
	}
}
